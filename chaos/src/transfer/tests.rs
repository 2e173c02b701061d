//! The judge of amounts is awake.

use super::*;

fn entity(row: usize, amount: i64) -> Entity {
    let properties = Properties::from([("amount".to_owned(), amount.to_string())]);
    Entity { row: row.to_string(), etag: String::new(), properties }
}

fn line(from: usize, to: usize, by: i64) -> Entity {
    let fields = [("from", from.to_string()), ("to", to.to_string()), ("by", by.to_string())];
    let properties = fields.map(|(name, value)| (name.to_owned(), value)).into();
    Entity { row: "j-0-1".to_owned(), etag: String::new(), properties }
}

fn amounts(changed: &[(usize, i64)]) -> Vec<Entity> {
    let of = |row| changed.iter().find(|(other, _)| *other == row).map_or(START, |(_, amount)| *amount);
    (0..ENTITIES).map(|row| entity(row, of(row))).collect()
}

#[test]
fn a_sum_that_changed_is_seen() {
    assert!(is_constant(&amounts(&[])).is_ok());
    assert!(is_constant(&amounts(&[(1, START - 5), (2, START + 5)])).is_ok());
    assert!(is_constant(&amounts(&[(1, START - 5)])).is_err(), "half of a move");
    assert!(is_constant(&amounts(&[])[1..]).is_err(), "an entity is missing");
}

#[test]
fn a_move_that_was_half_done_is_seen() {
    let moved = line(1, 2, 5);
    assert!(explains(&[], &amounts(&[])).is_ok());
    assert!(explains(&[&moved], &amounts(&[(1, START - 5), (2, START + 5)])).is_ok());
    assert!(explains(&[], &amounts(&[(1, START - 5), (2, START + 5)])).is_err(), "a line is missing");
    assert!(explains(&[&moved], &amounts(&[])).is_err(), "a line without its move");
    assert!(explains(&[&line(1, 99, 5)], &amounts(&[])).is_err());
}
