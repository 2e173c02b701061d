use lazuli_model::error::{ErrorCode, Failure};

use super::{read, write};

fn detail<'a>(failure: &'a Failure, name: &str) -> Option<&'a str> {
    failure.details.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str())
}

#[test]
fn comes_back_as_recorded() {
    let sent = "<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy>\
        <Start>2021-01-06T01:03:17.6998915Z</Start><Expiry>2021-01-06</Expiry><Permission>raup</Permission>\
        </AccessPolicy></SignedIdentifier><SignedIdentifier><Id>empty</Id></SignedIdentifier></SignedIdentifiers>";
    let policies = read(sent.as_bytes(), "raup").expect("policies");
    assert_eq!(
        write(&policies),
        "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers><SignedIdentifier><Id>a</Id>\
         <AccessPolicy><Start>2021-01-06T01:03:17.6998915Z</Start><Expiry>2021-01-06T00:00:00.0000000Z</Expiry>\
         <Permission>raup</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>empty</Id>\
         </SignedIdentifier></SignedIdentifiers>"
    );
    assert_eq!(
        write(&read(b"", "raup").expect("none")),
        "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers />"
    );
}

#[test]
fn six_are_too_many() {
    let one = |id: usize| format!("<SignedIdentifier><Id>{id}</Id></SignedIdentifier>");
    let list = |count: usize| {
        format!("<SignedIdentifiers>{}</SignedIdentifiers>", (0..count).map(one).collect::<String>())
    };
    assert_eq!(read(list(5).as_bytes(), "r").expect("five").len(), 5);
    let refused = read(list(6).as_bytes(), "r").expect_err("six");
    assert_eq!(refused.code, ErrorCode::InvalidXmlDocument);
    assert_eq!(detail(&refused, "LineNumber"), Some("0"));
    assert_eq!(detail(&refused, "Reason"), Some(""));
}

#[test]
fn ids_have_a_length_and_letters_a_service() {
    let with = |id: &str, permission: &str| {
        format!(
            "<SignedIdentifiers><SignedIdentifier><Id>{id}</Id><AccessPolicy>\
             <Permission>{permission}</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"
        )
    };
    assert!(read(with(&"i".repeat(64), "ra").as_bytes(), "raup").is_ok());
    let refused = read(with(&"i".repeat(65), "ra").as_bytes(), "raup").expect_err("65");
    assert_eq!(detail(&refused, "Reason"), Some(super::BAD_ID));
    assert!(read(with("", "ra").as_bytes(), "raup").is_err());
    assert!(read(with("i", "w").as_bytes(), "raup").is_err());
}
