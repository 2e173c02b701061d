//! Single rows in memory, so that what is asked for again and again costs one hash lookup, however large the
//! tables are.
//!
//! An entry says what a key's newest row was as of some sequence number. Keys are spread over slots, and a
//! slot knows the last sequence number at which any of its keys was written: an entry that is older than that
//! proves nothing. So a commit makes entries void by writing one number for each key, without looking for
//! them, and a reader that comes late with an old row does no harm.

use crate::key::{Key, Value};
use crate::txn::Write;
use foldhash::fast::RandomState;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// A slot for each so many bytes of memory: a few for each row, so that rows seldom share one.
const BYTES_A_SLOT: u64 = 256;
/// Longer values are read from the tables each time.
const LONGEST: usize = 8 << 10;
/// What an entry takes beside its key and value.
const OVERHEAD: u64 = 128;

pub(super) struct RowCache {
    rows: Cache<Key, Entry, Weight, RandomState>,
    slots: Box<[AtomicU64]>,
    hash: RandomState,
}

#[derive(Clone)]
struct Entry {
    /// Nothing was written to the key from `row` on, up to this.
    as_of: u64,
    row: Option<(u64, Value)>,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Entry> for Weight {
    fn weight(&self, key: &Key, entry: &Entry) -> u64 {
        OVERHEAD + key.len() as u64 + entry.row.as_ref().map_or(0, |(_, value)| value.len() as u64)
    }
}

impl RowCache {
    /// `None` when there is no memory for it.
    pub fn new(bytes: u64) -> Option<Self> {
        let options = OptionsBuilder::new()
            .weight_capacity(bytes)
            .estimated_items_capacity((bytes / (4 * OVERHEAD)) as usize)
            .build()
            .ok()
            .filter(|_| bytes > 0)?;
        let hash = RandomState::default();
        let rows = Cache::with_options(options, Weight, hash.clone(), DefaultLifecycle::default());
        let slots = (bytes / BYTES_A_SLOT).clamp(1 << 10, 1 << 22).next_power_of_two();
        Some(Self { rows, slots: (0..slots).map(|_| AtomicU64::new(0)).collect(), hash })
    }

    fn slot(&self, key: &[u8]) -> &AtomicU64 {
        // Masked: never out of range.
        &self.slots[self.hash.hash_one(key) as usize & (self.slots.len() - 1)]
    }

    /// The row as a snapshot at `seq` shows it; `None` when that is not known.
    #[allow(clippy::option_option, reason = "not known, and known to be absent, are different answers")]
    pub fn get(&self, key: &[u8], seq: u64) -> Option<Option<(u64, Value)>> {
        let entry = self.rows.get(key)?;
        if entry.as_of < self.slot(key).load(Ordering::Acquire) {
            return None;
        }
        // An absent key may have been there before.
        let since = entry.row.as_ref().map_or(entry.as_of, |(since, _)| *since);
        (since <= seq).then_some(entry.row)
    }

    /// A row that was read from a snapshot at `seq`.
    pub fn keep(&self, key: &[u8], seq: u64, row: Option<&(u64, Value)>) {
        let long = row.is_some_and(|(_, value)| value.len() > LONGEST);
        if long || self.slot(key).load(Ordering::Acquire) > seq {
            return;
        }
        // Copied: what the tables give is a part of a block, and would keep all of it.
        let row = row.map(|(since, value)| (*since, Value::copy_from_slice(value)));
        self.rows.insert(Key::copy_from_slice(key), Entry { as_of: seq, row });
    }

    /// Before any snapshot shows these writes: `last` is the sequence number of the snapshot that will.
    pub fn written(&self, writes: &[(u64, Write)], last: u64) {
        for (seq, write) in writes {
            let (key, row) = match write {
                Write::Put(key, value) => (key, Some((*seq, value))),
                Write::Delete(key) => (key, None),
            };
            self.slot(key).store(last, Ordering::Release);
            // Who writes what was read before will read it again.
            if row.is_none_or(|(_, value)| value.len() <= LONGEST) {
                let row = row.map(|(seq, value)| (seq, value.clone()));
                let _ = self.rows.replace(key.clone(), Entry { as_of: last, row }, true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(key: &'static str, value: &'static str) -> Write {
        Write::Put(Key::from_static(key.as_bytes()), Value::from_static(value.as_bytes()))
    }

    fn row(seq: u64, value: &'static str) -> Option<(u64, Value)> {
        Some((seq, Value::from_static(value.as_bytes())))
    }

    #[test]
    fn knows_what_was_kept_and_nothing_else() {
        let cache = RowCache::new(1 << 20).expect("a cache");
        assert_eq!(cache.get(b"a", 5), None);
        cache.keep(b"a", 5, row(3, "v").as_ref());
        cache.keep(b"b", 5, None);
        assert_eq!(cache.get(b"a", 5), Some(row(3, "v")));
        assert_eq!(cache.get(b"a", 3), Some(row(3, "v")));
        assert_eq!(cache.get(b"a", 2), None, "not yet there");
        assert_eq!(cache.get(b"b", 5), Some(None));
        assert_eq!(cache.get(b"b", 4), None, "it may have been there");
    }

    #[test]
    fn a_write_is_seen_by_later_snapshots_only() {
        let cache = RowCache::new(1 << 20).expect("a cache");
        cache.keep(b"a", 5, row(3, "old").as_ref());
        cache.written(&[(6, put("a", "new")), (7, put("never read", "x"))], 7);
        assert_eq!(cache.get(b"a", 5), None, "read from the tables, as the old snapshot shows it");
        assert_eq!(cache.get(b"a", 7), Some(row(6, "new")));
        assert_eq!(cache.get(b"never read", 7), None);
        cache.written(&[(8, Write::Delete(Key::from_static(b"a")))], 8);
        assert_eq!(cache.get(b"a", 7), None);
        assert_eq!(cache.get(b"a", 8), Some(None));
    }

    #[test]
    fn an_old_row_that_comes_late_is_not_believed() {
        let cache = RowCache::new(1 << 20).expect("a cache");
        cache.written(&[(6, put("a", "new"))], 6);
        cache.keep(b"a", 5, row(3, "old").as_ref());
        assert_eq!(cache.get(b"a", 6), None);
        // Later still: between the look at the slot and the insertion, a commit may come.
        cache.rows.insert(Key::from_static(b"a"), Entry { as_of: 5, row: row(3, "old") });
        assert_eq!(cache.get(b"a", 6), None);
        assert_eq!(cache.get(b"a", 5), None);
    }

    #[test]
    fn memory_is_bounded() {
        let cache = RowCache::new(1 << 20).expect("a cache");
        for n in 0..100_000_u64 {
            cache.keep(&n.to_be_bytes(), 5, row(3, "some value").as_ref());
        }
        assert!(cache.rows.weight() <= 1 << 20 && cache.rows.len() > 1_000);
        assert!(RowCache::new(0).is_none());
    }
}
