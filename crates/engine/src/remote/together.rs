//! Batches of several readers as one: what is asked of the database once, and what of the answer is whose.

use super::lanes::Batch;
use super::sql::Sql;
use crate::key::Key;
use crate::txn::{Entry, Ticks, Version};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

/// Index keys that are wanted, and those that were read before with the versions that they had.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub keys: Arc<[Key]>,
    pub earlier: Arc<[(Key, Option<Version>)]>,
}

impl Asked {
    pub fn new(keys: Vec<Key>, earlier: Vec<(Key, Option<Version>)>) -> Self {
        Self { keys: keys.into(), earlier: earlier.into() }
    }

    /// The statement that reads it.
    pub fn sql(&self) -> Sql {
        if self.earlier.is_empty() { Sql::Read } else { Sql::ReadAgain }
    }

    /// How many rows the database looks for.
    pub fn size(&self) -> usize {
        self.keys.len() + self.earlier.len()
    }
}

pub(super) struct Together<'a> {
    /// Each once.
    keys: Vec<&'a [u8]>,
    earlier: Vec<(&'a [u8], Option<Version>)>,
    parts: Vec<Part>,
}

/// What of it is one batch's.
struct Part {
    /// For each of its keys, the place in `keys`.
    places: Vec<usize>,
    /// Behind the last of its earlier ones.
    earlier_end: usize,
}

impl<'a> Together<'a> {
    pub fn of(batches: impl Iterator<Item = &'a Asked>) -> Self {
        let mut all = Self { keys: Vec::new(), earlier: Vec::new(), parts: Vec::new() };
        let mut places: HashMap<&[u8], usize, RandomState> = HashMap::default();
        for asked in batches {
            let place = |key: &'a Key| {
                *places.entry(&key[..]).or_insert_with(|| {
                    all.keys.push(&key[..]);
                    all.keys.len() - 1
                })
            };
            let places = asked.keys.iter().map(place).collect();
            all.earlier.extend(asked.earlier.iter().map(|(key, version)| (&key[..], *version)));
            all.parts.push(Part { places, earlier_end: all.earlier.len() });
        }
        all
    }

    pub fn keys(&self) -> &[&'a [u8]] {
        &self.keys
    }

    pub fn earlier(&self) -> &[(&'a [u8], Option<Version>)] {
        &self.earlier
    }

    /// What was found for each batch: `found` in the order of the keys, `changed` the places of the earlier ones that have
    /// another version by now.
    pub fn split(&self, found: &[Option<Entry>], changed: &[usize], now: Ticks) -> Vec<Batch> {
        let mut from = 0;
        let part = |part: &Part| {
            let own = from..part.earlier_end;
            from = part.earlier_end;
            let entries = part.places.iter().map(|place| found.get(*place).cloned().flatten());
            Batch { entries: entries.collect(), torn: changed.iter().any(|place| own.contains(place)), now }
        };
        self.parts.iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Value;

    fn key(name: &str) -> Key {
        Key::copy_from_slice(name.as_bytes())
    }

    fn asked(keys: &[&str], earlier: &[&str]) -> Asked {
        let earlier = earlier.iter().map(|name| (key(name), Some(Version(1))));
        Asked::new(keys.iter().map(|name| key(name)).collect(), earlier.collect())
    }

    #[test]
    fn a_key_is_asked_for_once_and_each_batch_has_what_is_its_own() {
        let batches = [asked(&["c", "a"], &[]), asked(&["b", "c", "c"], &["x", "y"]), asked(&[], &["x"])];
        let together = Together::of(batches.iter());
        assert_eq!(together.keys(), [b"c", b"a", b"b"]);
        assert_eq!(together.earlier().len(), 3);
        let entry = |name: &'static str| Some(Entry { version: Version(7), value: Value::from(name) });
        let found = [entry("of c"), None, entry("of b")];
        let split = |changed: &[usize]| together.split(&found, changed, Ticks(5));
        let values = |batch: &Batch| -> Vec<Option<Value>> {
            batch.entries.iter().map(|entry| entry.as_ref().map(|entry| entry.value.clone())).collect()
        };
        let value = |name: &'static str| Some(Value::from(name));
        let whole = split(&[]);
        assert_eq!(values(&whole[0]), [value("of c"), None]);
        assert_eq!(values(&whole[1]), [value("of b"), value("of c"), value("of c")]);
        assert!(whole[2].entries.is_empty() && whole.iter().all(|batch| batch.now == Ticks(5)));
        let torn = |changed: &[usize]| split(changed).iter().map(|batch| batch.torn).collect::<Vec<_>>();
        assert_eq!(torn(&[]), [false, false, false]);
        assert_eq!(torn(&[1]), [false, true, false]);
        assert_eq!(torn(&[2]), [false, false, true]);
        assert_eq!(torn(&[0, 2]), [false, true, true]);
    }
}
