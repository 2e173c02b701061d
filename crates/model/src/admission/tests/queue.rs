use uuid::Uuid;

use super::super::queue::{Message, PopReceipt, admit_message};
use super::{now, printed, table};
use crate::time::Timestamp;

const ID: Uuid = Uuid::from_u128(0x0f8f_ad5b_d9cb_469f_a165_7086_7728_950e);
const OTHER: Uuid = Uuid::from_u128(0x1f8f_ad5b_d9cb_469f_a165_7086_7728_950e);

#[derive(Debug)]
struct Stored {
    expires: Option<Timestamp>,
}

impl Message for Stored {
    fn id(&self) -> Uuid {
        ID
    }

    fn receipt_issued(&self) -> Timestamp {
        now()
    }

    fn expires(&self) -> Option<Timestamp> {
        self.expires
    }
}

/// queue.md section 3, pop receipt validity. Visibility plays no part.
const RECEIPTS: &str = "
| Message  | newest              | superseded          | another message's      | never issued           |
|---|---|---|---|---|
| unknown  | 404 MessageNotFound | 404 MessageNotFound | 404 MessageNotFound    | 404 MessageNotFound    |
| expired  | 404 MessageNotFound | 404 MessageNotFound | 404 MessageNotFound    | 404 MessageNotFound    |
| alive    | ok                  | 404 MessageNotFound | 400 PopReceiptMismatch | 400 PopReceiptMismatch |
| immortal | ok                  | 404 MessageNotFound | 400 PopReceiptMismatch | 400 PopReceiptMismatch |
";

#[test]
fn every_receipt_for_every_message() {
    for line in table(RECEIPTS) {
        for (receipt, cell) in &line.cells {
            let text = match *receipt {
                "newest" => PopReceipt::issue(ID, now()).print(),
                "superseded" => PopReceipt::issue(ID, Timestamp(now().0 - 1)).print(),
                "another message's" => PopReceipt::issue(OTHER, now()).print(),
                "never issued" => "Z2FyYmFnZQ==".to_owned(),
                other => panic!("cannot read {other:?}"),
            };
            let message = match line.head {
                "unknown" => None,
                "expired" => Some(Stored { expires: Some(now()) }),
                "alive" => Some(Stored { expires: Some(Timestamp(now().0 + 1)) }),
                "immortal" => Some(Stored { expires: None }),
                other => panic!("cannot read {other:?}"),
            };
            let given = PopReceipt::parse(&text).expect("base64");
            let outcome = match admit_message(given, message, now()) {
                Ok(_) => "ok".to_owned(),
                Err(failure) => printed(&failure),
            };
            assert_eq!(outcome, *cell, "{} {receipt}", line.head);
        }
    }
}

#[test]
fn a_receipt_looks_like_the_services() {
    // A recorded one: 20 bytes, of which the last eight are a time.
    let recorded = "AgAAAAMAAAAAAAAAyIzI1X8c2AE=";
    let PopReceipt::Issued { mark, at } = PopReceipt::parse(recorded).expect("base64") else {
        panic!("of another shape");
    };
    assert_eq!(mark, 0);
    assert!(at.iso7().starts_with("2022-02-08T00:07:18"), "{}", at.iso7());
    assert_eq!(PopReceipt::Issued { mark, at }.print(), recorded);
    assert_eq!(PopReceipt::issue(ID, now()).print().len(), recorded.len());
}

#[test]
fn what_is_no_base64_is_refused_first() {
    for text in ["not base64!", "AAA", "AgAAAAMAAAAAAAAAyIzI1X8c2AE", "é"] {
        let failure = PopReceipt::parse(text).expect_err(text);
        assert_eq!(printed(&failure), "400 InvalidQueryParameterValue");
        let wanted = [
            ("QueryParameterName", "popreceipt".to_owned()),
            ("QueryParameterValue", text.to_owned()),
            ("Reason", "Invalid pop receipt format".to_owned()),
        ];
        assert_eq!(failure.details, wanted);
    }
}

#[test]
fn any_length_of_base64_is_a_foreign_receipt() {
    for bytes in ["", "AA==", "AgAAAAMAAAA=", "AgAAAAMAAAAAAAAAyIzI1X8c2AEA", "AgAAAAMAAAAAAAAA//////////8="]
    {
        assert_eq!(PopReceipt::parse(bytes).expect("base64"), PopReceipt::Foreign, "{bytes}");
    }
}
