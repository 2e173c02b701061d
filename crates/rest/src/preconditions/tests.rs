use lazuli_model::operation::Op;

use super::*;
use crate::testing::head;

const DATE: &str = "Mon, 01 Jan 2024 00:00:00 GMT";

#[test]
fn the_four_conditions_are_read() {
    let head = head(&[
        ("if-match", "\"0x8D8C5A1F2E3B4C5\""),
        ("if-none-match", "*"),
        ("if-modified-since", DATE),
        ("if-unmodified-since", "Monday, 01-Jan-24 00:00:00 GMT"),
    ]);
    let given = target(&head, Op::GetBlob.row()).unwrap();
    let date = Timestamp::parse_http_date(DATE);
    assert_eq!(given.if_match, ETagCondition::parse("0x8D8C5A1F2E3B4C5"));
    assert_eq!(given.if_none_match, Some(ETagCondition::Any));
    assert_eq!((given.if_modified_since, given.if_unmodified_since), (date, date));
}

#[test]
fn lines_of_one_header_are_one_list() {
    let given =
        target(&head(&[("if-match", "\"a\""), ("if-match", "\"b\", \"c\"")]), Op::GetBlob.row()).unwrap();
    assert_eq!(given.if_match.map(|list| list.count()), Some(3));
}

#[test]
fn a_date_that_cannot_be_read_is_an_error_and_so_are_two() {
    let (read, write) = (Op::GetBlob.row(), Op::PutBlockBlob.row());
    let two = head(&[("if-modified-since", DATE), ("if-modified-since", DATE)]);
    assert_eq!(two.check_headers().unwrap_err().code, ErrorCode::InvalidHeaderValue);
    let list = format!("{DATE}, {DATE}");
    for text in [list.as_str(), "2024-01-01T00:00:00Z", "Mon, 01 Jan 2024 00:00:00", "soon", "NULL"] {
        for row in [read, write] {
            let failure = target(&head(&[("if-unmodified-since", text)]), row).unwrap_err();
            assert_eq!(failure.code, ErrorCode::InvalidHeaderValue, "{text}");
        }
    }
    // Seen on the service, for reads.
    let null = head(&[("if-modified-since", "null")]);
    assert_eq!(target(&null, read).unwrap().if_modified_since, None);
    assert!(target(&null, write).is_err());
}

#[test]
fn a_list_without_an_entry_is_an_error() {
    for name in ["if-match", "if-none-match"] {
        let failure = target(&head(&[(name, " , ,")]), Op::PutBlockBlob.row()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::InvalidHeaderValue);
    }
}

#[test]
fn empty_headers_are_absent() {
    let given = target(&head(&[("if-match", ""), ("x-ms-lease-id", " ")]), Op::PutBlockBlob.row()).unwrap();
    assert_eq!(given.if_match, None);
    assert_eq!(given.lease_id, None);
}

#[test]
fn only_what_the_row_takes_is_parsed() {
    // Put Block takes a lease id and no tags; Create Container takes neither.
    let odd = head(&[("x-ms-if-tags", "not ( a predicate"), ("x-ms-lease-id", "mine")]);
    let failure = target(&odd, Op::PutBlock.row()).unwrap_err();
    assert_eq!(failure.details.first().map(|(_, value)| value.as_str()), Some("x-ms-lease-id"));
    assert!(target(&odd, Op::CreateContainer.row()).is_ok());
    let tags = head(&[("x-ms-if-tags", "not ( a predicate")]);
    assert!(target(&tags, Op::GetBlob.row()).is_err());
}

/// conditional.md section 5, as recorded.
#[test]
fn negative_numbers_are_refused_by_kind_of_write() {
    let negative = head(&[("x-ms-if-sequence-number-le", "-1")]);
    assert_eq!(target(&negative, Op::PutPage.row()).unwrap_err().code, ErrorCode::InvalidInput);
    assert_eq!(target(&negative, Op::PutPageFromUrl.row()).unwrap_err().code, ErrorCode::InvalidHeaderValue);
    let negative = head(&[("x-ms-blob-condition-appendpos", "-1")]);
    assert_eq!(target(&negative, Op::AppendBlock.row()).unwrap_err().code, ErrorCode::InvalidHeaderValue);
}

#[test]
fn source_conditions_have_names_of_their_own() {
    let head = head(&[("x-ms-source-if-match", "\"a\""), ("if-none-match", "*")]);
    let given = source(&head).unwrap();
    assert!(given.if_match.is_some() && given.if_none_match.is_none());
}

#[test]
fn a_rename_names_the_lease_of_its_destination() {
    let (of_target, of_source) =
        ("e0f0f8a0-0000-4000-8000-000000000001", "e0f0f8a0-0000-4000-8000-000000000002");
    let sent = head(&[("x-ms-destination-lease-id", of_target), ("x-ms-source-lease-id", of_source)]);
    for op in [Op::RenameFile, Op::RenameDirectory] {
        assert_eq!(target(&sent, op.row()).unwrap().lease_id, LeaseId::parse(of_target));
        assert_eq!(source(&sent).unwrap().lease_id, LeaseId::parse(of_source));
    }
    assert_eq!(target(&sent, Op::CreateFile.row()).unwrap().lease_id, None);
}
