//! `$filter`: what is written is read as what it means. The input is a filter as text, and it is choices for a tree whose
//! meaning a slow evaluator knows.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use lazuli_model::Timestamp;
use lazuli_model::odata::{Bound, EdmValue, Filter, KeyBox, Span, compare_ordinal};
use uuid::Uuid;

use reference::Dice;

// The evaluator of the model's own tests.
#[path = "../../../crates/model/src/odata/tests/reference.rs"]
mod reference;

type Bag = BTreeMap<String, EdmValue>;

/// Every choice takes a byte; when there are none left, all are the first.
struct Bytes<'a>(&'a [u8]);

impl Dice for Bytes<'_> {
    fn roll(&mut self, sides: u64) -> u64 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                u64::from(*first) % sides
            }
            None => 0,
        }
    }
}

pub fn run(data: &[u8]) {
    let mut dice = Bytes(data);
    let depth = dice.roll(5) as u32;
    let tree = reference::tree(&mut dice, depth);
    let text = reference::print(&tree, 0);
    let filter = Filter::parse(&text).unwrap_or_else(|failure| panic!("{text}: {failure}"));
    stays_small(&filter, &text);
    for _ in 0..3 {
        let bag = reference::bag(&mut dice);
        let expected = reference::slow(&tree, &bag);
        assert_eq!(ask(&filter, &bag), expected, "{text} on {bag:?}");
        stands_in_a_box(&filter, &bag, &text);
    }
    let text = String::from_utf8_lossy(data);
    if let Ok(filter) = Filter::parse(&text) {
        stays_small(&filter, &text);
        for _ in 0..3 {
            stands_in_a_box(&filter, &reference::bag(&mut dice), &text);
        }
    }
}

/// More boxes than this are read as one.
const BOXES: usize = 200;

/// A filter takes as much memory as its text, and so do the literals of its boxes, however many boxes they bound.
fn stays_small(filter: &Filter, text: &str) {
    assert!(filter.names().iter().map(String::len).sum::<usize>() <= text.len(), "{text}");
    let distinct: BTreeSet<&String> = filter.names().iter().collect();
    assert_eq!(distinct.len(), filter.names().len(), "{text}");
    assert!(filter.names().len() <= filter.cost() && filter.cost() <= text.len(), "{text}");
    let boxes = filter.key_boxes("PartitionKey", "RowKey");
    assert!(boxes.len() <= BOXES, "{} boxes of {text}", boxes.len());
    let spans = boxes.iter().flat_map(|one| [&one.partition, &one.row]);
    let literals: BTreeMap<*const u8, usize> = spans
        .flat_map(|span| [&span.low, &span.high])
        .filter_map(|bound| match bound {
            Bound::Open => None,
            Bound::Including(text) | Bound::Excluding(text) => Some((text.as_ptr(), text.len())),
        })
        .collect();
    assert!(literals.values().sum::<usize>() <= text.len(), "{text}");
}

fn ask(filter: &Filter, bag: &Bag) -> bool {
    let slots: Vec<_> = filter.names().iter().map(|name| bag.get(name).map(EdmValue::borrowed)).collect();
    filter.matches(&slots)
}

/// An entity for which the filter holds is not skipped by the query that reads only the boxes.
fn stands_in_a_box(filter: &Filter, bag: &Bag, text: &str) {
    if !ask(filter, bag) {
        return;
    }
    let key = |name: &str| match bag.get(name) {
        Some(EdmValue::String(text)) => text.as_str(),
        _ => "",
    };
    let boxes = filter.key_boxes("PartitionKey", "RowKey");
    let (partition, row) = (key("PartitionKey"), key("RowKey"));
    let inside = |one: &KeyBox| within(&one.partition, partition) && within(&one.row, row);
    assert!(boxes.iter().any(inside), "{text} on {bag:?} not in {boxes:?}");
}

fn within(span: &Span, key: &str) -> bool {
    let above = match &span.low {
        Bound::Open => true,
        Bound::Including(low) => compare_ordinal(key, low) != Ordering::Less,
        Bound::Excluding(low) => compare_ordinal(key, low) == Ordering::Greater,
    };
    let below = match &span.high {
        Bound::Open => true,
        Bound::Including(high) => compare_ordinal(key, high) != Ordering::Greater,
        Bound::Excluding(high) => compare_ordinal(key, high) == Ordering::Less,
    };
    above && below
}
