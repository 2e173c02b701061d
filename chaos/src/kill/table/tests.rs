//! What may be found after a crash, and what may not.

use super::*;

fn entity(row: &str, value: &str, etag: &str) -> Entity {
    let properties = Properties::from([("p".to_owned(), value.to_owned())]);
    Entity { row: row.to_owned(), etag: etag.to_owned(), properties }
}

/// Two entities acknowledged; a group was open that changes both.
fn table() -> Table {
    let mut table = Table::new(0, Random::new(1));
    table.settle(vec![]).expect("empty");
    for row in ["a", "b"] {
        let properties = entity(row, "old", "").properties;
        let known = Row { properties, etag: Some(format!("{row}1")) };
        table.acknowledged_state.insert(row.to_owned(), known);
    }
    let changes = ["a", "b"].map(|row| Change {
        verb: Verb::Merge,
        partition: String::new(),
        row: row.to_owned(),
        properties: entity(row, "new", "").properties,
        if_match: None,
    });
    table.open_state = Some(after(&table.acknowledged_state, &changes));
    table
}

#[test]
fn a_group_is_there_or_not() {
    let (old_a, old_b) = (entity("a", "old", "a1"), entity("b", "old", "b1"));
    let (new_a, new_b) = (entity("a", "new", "a2"), entity("b", "new", "b2"));
    let extra = entity("c", "old", "c1");
    let rows = [
        ("not done", vec![old_a.clone(), old_b.clone()], true),
        ("done", vec![new_a.clone(), new_b.clone()], true),
        ("half done", vec![new_a.clone(), old_b.clone()], false),
        ("the other half done", vec![old_a.clone(), new_b], false),
        ("one lost", vec![old_a.clone()], false),
        ("one more", vec![old_a.clone(), old_b.clone(), extra], false),
        ("rewritten", vec![entity("a", "old", "a9"), old_b.clone()], false),
        ("another value", vec![entity("a", "else", "a1"), old_b], false),
    ];
    for (what, found, right) in rows {
        let outcome = table().settle(found);
        assert_eq!(outcome.is_ok(), right, "{what}: {outcome:?}");
    }
}

#[test]
fn an_insert_is_there_when_it_was_acknowledged() {
    let known = |etag: Option<&str>| {
        let mut table = Table::new(0, Random::new(1));
        table.once.insert("1".to_owned(), etag.map(str::to_owned));
        table
    };
    let found = |etag: &str| {
        let properties = Properties::from([("row".to_owned(), "1".to_owned())]);
        vec![Entity { row: "1".to_owned(), etag: etag.to_owned(), properties }]
    };
    assert!(known(Some("e")).settle_once(found("e")).is_ok());
    assert!(known(None).settle_once(found("e")).is_ok());
    assert!(known(None).settle_once(vec![]).is_ok());
    assert!(known(Some("e")).settle_once(vec![]).is_err());
    assert!(known(Some("e")).settle_once(found("f")).is_err());
    assert!(Table::new(0, Random::new(1)).settle_once(found("e")).is_err());
}
