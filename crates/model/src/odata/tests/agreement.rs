//! Random filters and entities: the parser and the filter against the reference.

use super::reference::{Dice, bag, print, slow, tree};
use super::{EdmValue, Filter, ask};

struct Xorshift(u64);

impl Dice for Xorshift {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

#[test]
fn the_filter_agrees_with_the_reference() {
    let mut dice = Xorshift(0x5EED_1234_5678_9ABC);
    let (mut held, mut refused) = (0, 0);
    for round in 0..20_000 {
        let depth = dice.roll(5) as u32;
        let tree = tree(&mut dice, depth);
        let text = print(&tree, 0);
        let filter = Filter::parse(&text).unwrap_or_else(|failure| panic!("{text}: {failure}"));
        for _ in 0..4 {
            let bag = bag(&mut dice);
            let expected = slow(&tree, &bag);
            assert_eq!(ask(&filter, &bag), expected, "round {round}: {text} on {bag:?}");
            *(if expected { &mut held } else { &mut refused }) += 1;
            // An entity for which the filter holds stands in one of its boxes.
            let key = |name: &str| match bag.get(name) {
                Some(EdmValue::String(text)) => text.clone(),
                _ => String::new(),
            };
            let boxes = filter.key_boxes("PartitionKey", "RowKey");
            let inside = super::bounds::holds(&boxes, &key("PartitionKey"), &key("RowKey"));
            assert!(inside || !expected, "round {round}: {text} on {bag:?} not in {boxes:?}");
        }
    }
    assert!(held > 10_000 && refused > 10_000, "the dice are loaded: {held} {refused}");
}

#[test]
fn nonsense_never_panics() {
    let words = [
        "(",
        ")",
        "'",
        "''",
        " ",
        "eq",
        "not",
        "and",
        "a",
        "1",
        "-",
        ".",
        "e",
        "L",
        "X'",
        "guid'",
        "\u{1F600}",
        "é",
    ];
    let mut dice = Xorshift(0xBAD_F00D);
    for _ in 0..50_000 {
        let text: String = (0..dice.roll(12)).map(|_| dice.pick(&words)).collect();
        let _ = Filter::parse(&text);
    }
}
