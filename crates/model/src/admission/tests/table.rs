use super::super::table::{Entity, EntityMatch, admit_entity, entity_etag};
use super::{now, printed, row, table};
use crate::time::Timestamp;

const TIMESTAMP: &str = "2021-03-23T18:28:39.049482Z";

#[derive(Debug)]
struct Stored;

impl Entity for Stored {
    fn timestamp(&self) -> Timestamp {
        Timestamp::parse_iso(TIMESTAMP).expect("a time")
    }
}

/// table.md section 2. "-" is a request that is another operation, told apart by If-Match.
const ENTITIES: &str = r#"
| Operation                     | none                       | *                    | current                         | W/"wrong"                       |
|---|---|---|---|---|
| UpdateEntity, present          | -                         | ok                   | ok                   | 412 UpdateConditionNotSatisfied |
| UpdateEntity, absent           | -                         | 404 ResourceNotFound | 404 ResourceNotFound | 404 ResourceNotFound            |
| MergeEntity, present           | -                         | ok                   | ok                   | 412 UpdateConditionNotSatisfied |
| MergeEntity, absent            | -                         | 404 ResourceNotFound | 404 ResourceNotFound | 404 ResourceNotFound            |
| InsertOrReplaceEntity, present | ok                        | -                    | -                    | -                               |
| InsertOrReplaceEntity, absent  | ok                        | -                    | -                    | -                               |
| InsertOrMergeEntity, present   | ok                        | -                    | -                    | -                               |
| InsertOrMergeEntity, absent    | ok                        | -                    | -                    | -                               |
| DeleteEntity, present          | 400 MissingRequiredHeader | ok                   | ok                   | 412 UpdateConditionNotSatisfied |
| DeleteEntity, absent           | 400 MissingRequiredHeader | 404 ResourceNotFound | 404 ResourceNotFound | 404 ResourceNotFound            |
| InsertEntity, present          | 409 EntityAlreadyExists   | 409 EntityAlreadyExists | 409 EntityAlreadyExists | 409 EntityAlreadyExists   |
| InsertEntity, absent           | ok                        | ok                   | ok                   | ok                              |
"#;

#[test]
fn every_operation_and_every_if_match() {
    for line in table(ENTITIES) {
        let (name, existence) = line.head.split_once(", ").expect("an operation and a target");
        for (value, cell) in &line.cells {
            if *cell == "-" {
                continue;
            }
            let current = r#"W/"datetime'2021-03-23T18%3A28%3A39.049482Z'""#;
            let given = match *value {
                "none" => None,
                "current" => Some(EntityMatch::parse(current).expect("well-formed")),
                value => Some(EntityMatch::parse(value).expect("well-formed")),
            };
            let record = (existence == "present").then_some(Stored);
            let outcome = match admit_entity(&row(name).policy, given.as_ref(), record, now()) {
                Ok(_) => "ok".to_owned(),
                Err(failure) => printed(&failure),
            };
            assert_eq!(outcome, *cell, "{} {value}", line.head);
        }
    }
}

#[test]
fn an_update_never_inserts() {
    for name in ["UpdateEntity", "MergeEntity"] {
        let outcome = admit_entity::<Stored>(&row(name).policy, None, None, now());
        assert_eq!(printed(&outcome.expect_err("absent")), "404 ResourceNotFound");
    }
    for name in ["InsertOrReplaceEntity", "InsertOrMergeEntity"] {
        let outcome = admit_entity::<Stored>(&row(name).policy, Some(&EntityMatch::Any), None, now());
        assert_eq!(printed(&outcome.expect_err("absent")), "404 ResourceNotFound");
    }
}

#[test]
fn what_is_no_weak_etag_is_refused() {
    for text in ["test", "", "\"x\"", "W/x", "W/\"x", "w/\"x\"", "W/\"a\", W/\"b\""] {
        let failure = EntityMatch::parse(text).expect_err(text);
        assert_eq!(printed(&failure), "400 InvalidInput");
        assert!(failure.message().starts_with(&format!("The etag value '{text}' specified")), "{text}");
    }
}

#[test]
fn the_etag_is_the_timestamp() {
    for (timestamp, etag) in [
        (TIMESTAMP, r#"W/"datetime'2021-03-23T18%3A28%3A39.049482Z'""#),
        ("2021-03-23T18:28:39.0000000Z", r#"W/"datetime'2021-03-23T18%3A28%3A39Z'""#),
        ("2021-03-23T18:28:39.1234567Z", r#"W/"datetime'2021-03-23T18%3A28%3A39.1234567Z'""#),
    ] {
        assert_eq!(entity_etag(Timestamp::parse_iso(timestamp).expect("a time")), etag);
    }
    // Opaque: the same moment in another spelling is another ETag.
    let spelled =
        EntityMatch::parse(r#"W/"datetime'2021-03-23T18%3A28%3A39.0494820Z'""#).expect("well-formed");
    let outcome = admit_entity(&row("UpdateEntity").policy, Some(&spelled), Some(Stored), now());
    assert_eq!(printed(&outcome.expect_err("another")), "412 UpdateConditionNotSatisfied");
}
