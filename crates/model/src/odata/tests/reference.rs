//! A second evaluator, slow and separate: it makes its own trees, prints them as a filter, and decides by plain
//! recursion over owned values. What the parser and the filter say must be the same. The fuzz targets include this file,
//! so what it needs comes from the module around it.

use std::cmp::Ordering;

use super::{Bag, EdmValue, Timestamp, Uuid};

pub enum Tree {
    Both(Box<Tree>, Box<Tree>),
    Either(Box<Tree>, Box<Tree>),
    Opposite(Box<Tree>),
    Cell(&'static str, &'static str, EdmValue),
    Flag(&'static str),
}

/// Where choices come from.
pub trait Dice {
    /// Below `sides`, which is not 0.
    fn roll(&mut self, sides: u64) -> u64;

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u64) as usize]
    }
}

const NAMES: [&str; 4] = ["PartitionKey", "RowKey", "a", "b"];

fn value(dice: &mut impl Dice) -> EdmValue {
    match dice.roll(9) {
        0 | 1 => EdmValue::String(dice.pick(&["", "a", "o'c", "\u{FFFF}", "\u{10000}", "b"]).to_owned()),
        2 => EdmValue::Boolean(dice.roll(2) == 0),
        3 => EdmValue::Int32(dice.roll(5) as i32 - 2),
        4 => EdmValue::Int64(dice.roll(5) as i64 - 2),
        5 => EdmValue::Double(dice.pick(&[-1.5, 0.0, 1.0, 2.0, f64::INFINITY, f64::NAN, f64::NEG_INFINITY])),
        6 => EdmValue::Guid(Uuid::from_u128(u128::from(dice.roll(3)))),
        7 => EdmValue::DateTime(Timestamp(630_000_000_000_000_000 + dice.roll(3))),
        _ => EdmValue::Binary(vec![1; dice.roll(3) as usize]),
    }
}

pub fn tree(dice: &mut impl Dice, depth: u32) -> Tree {
    let kind = if depth == 0 { 4 } else { dice.roll(7) };
    match kind {
        0 | 1 => Tree::Both(Box::new(tree(dice, depth - 1)), Box::new(tree(dice, depth - 1))),
        2 => Tree::Either(Box::new(tree(dice, depth - 1)), Box::new(tree(dice, depth - 1))),
        3 => Tree::Opposite(Box::new(tree(dice, depth - 1))),
        4 | 5 => Tree::Cell(dice.pick(&NAMES), dice.pick(&["eq", "ne", "gt", "ge", "lt", "le"]), value(dice)),
        _ => Tree::Flag(dice.pick(&NAMES)),
    }
}

fn literal(value: &EdmValue) -> String {
    match value {
        EdmValue::String(text) => format!("'{}'", text.replace('\'', "''")),
        EdmValue::Boolean(value) => value.to_string(),
        EdmValue::Int32(value) => value.to_string(),
        EdmValue::Int64(value) => format!("{value}L"),
        EdmValue::Double(value) if value.is_nan() => "NaN".to_owned(),
        EdmValue::Double(value) if value.is_infinite() => {
            if *value > 0.0 {
                "INF".to_owned()
            } else {
                "-INF".to_owned()
            }
        }
        EdmValue::Double(value) => format!("{value:?}"),
        EdmValue::Guid(value) => format!("guid'{value}'"),
        EdmValue::DateTime(value) => format!("datetime'{}'", value.iso7()),
        EdmValue::Binary(bytes) => {
            format!("X'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
    }
}

/// Printed with as few parentheses as precedence allows.
pub fn print(tree: &Tree, inside: u8) -> String {
    let (text, level) = match tree {
        Tree::Either(a, b) => (format!("{} or {}", print(a, 0), print(b, 0)), 0),
        Tree::Both(a, b) => (format!("{} and {}", print(a, 1), print(b, 1)), 1),
        Tree::Opposite(inner) => (format!("not {}", print(inner, 2)), 2),
        Tree::Cell(name, operator, value) => (format!("{name} {operator} {}", literal(value)), 3),
        Tree::Flag(name) => ((*name).to_owned(), 3),
    };
    if level < inside { format!("({text})") } else { text }
}

fn slow_compare(a: &EdmValue, b: &EdmValue) -> Option<Option<Ordering>> {
    let number = |value: &EdmValue| match value {
        EdmValue::Int32(value) => Some(f64::from(*value)),
        EdmValue::Int64(value) => Some(*value as f64),
        EdmValue::Double(value) => Some(*value),
        _ => None,
    };
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return Some(a.partial_cmp(&b));
    }
    match (a, b) {
        (EdmValue::String(a), EdmValue::String(b)) => Some(Some(a.encode_utf16().cmp(b.encode_utf16()))),
        (EdmValue::Boolean(a), EdmValue::Boolean(b)) => Some(Some(a.cmp(b))),
        (EdmValue::Guid(a), EdmValue::Guid(b)) => Some(Some(a.to_string().cmp(&b.to_string()))),
        (EdmValue::DateTime(a), EdmValue::DateTime(b)) => Some(Some(a.iso7().cmp(&b.iso7()))),
        (EdmValue::Binary(a), EdmValue::Binary(b)) => Some(Some(a.cmp(b))),
        _ => None,
    }
}

pub fn slow(tree: &Tree, bag: &Bag) -> bool {
    match tree {
        Tree::Both(a, b) => slow(a, bag) & slow(b, bag),
        Tree::Either(a, b) => slow(a, bag) | slow(b, bag),
        Tree::Opposite(inner) => !slow(inner, bag),
        Tree::Flag(name) => bag.get(*name) == Some(&EdmValue::Boolean(true)),
        Tree::Cell(name, operator, value) => {
            let Some(Some(found)) = bag.get(*name).map(|found| slow_compare(found, value)) else {
                return false;
            };
            match *operator {
                "eq" => found.is_some_and(Ordering::is_eq),
                "ne" => !found.is_some_and(Ordering::is_eq),
                "gt" => found.is_some_and(Ordering::is_gt),
                "ge" => found.is_some_and(Ordering::is_ge),
                "lt" => found.is_some_and(Ordering::is_lt),
                _ => found.is_some_and(Ordering::is_le),
            }
        }
    }
}

pub fn bag(dice: &mut impl Dice) -> Bag {
    let mut bag = Bag::new();
    for name in ["PartitionKey", "RowKey"] {
        let key = dice.pick(&["", "a", "o'c", "\u{FFFF}", "\u{10000}", "b", "c"]);
        bag.insert(name.to_owned(), EdmValue::String(key.to_owned()));
    }
    for name in ["a", "b"] {
        if dice.roll(4) > 0 {
            bag.insert(name.to_owned(), value(dice));
        }
    }
    bag
}
