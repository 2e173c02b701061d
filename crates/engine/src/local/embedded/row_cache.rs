//! Single rows in memory, so that what is asked for again and again costs one hash lookup, however large the
//! tables are.
//!
//! An entry says what a key's newest row is; a commit changes the entries of the keys that it writes before any
//! snapshot shows it. So an entry holds for every snapshot that is not older than its row. What a reader brings
//! is believed only if nothing was written near it since the reader's snapshot: it may come late, with an old row.
//!
//! A key's hash leads to a set of a few places, each a row in one piece of memory. So a lookup misses the
//! processor's caches twice, not more, and a lock is held for a moment by one of many.

use crate::caps;
use crate::key::Value;
use crate::stats::RowCacheStats;
use crate::txn::Write;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Longer values are read from the tables each time.
const LONGEST: usize = 8 << 10;
/// As many as make a set two cache lines.
const WAYS: usize = 6;
/// A set for so many bytes of memory; two or three rows, as rows go.
const BYTES_A_SET: u64 = 1 << 10;
/// Sets come into being together, when the first is asked for.
const SETS_A_BLOCK: usize = 256;
/// What a row takes beside its own bytes.
const OVERHEAD: u64 = 32;
/// Sets that are looked at for something to evict, at one insertion.
const SWEEP: usize = 32;
/// Places to count lookups in.
const COUNTS: usize = 64;

pub(super) struct RowCache {
    blocks: Box<[OnceLock<Box<[Set]>>]>,
    hash: RandomState,
    capacity: u64,
    /// Of all rows.
    weight: AtomicU64,
    /// The set that is looked at next for something to evict.
    hand: AtomicUsize,
    counts: Box<[Counts]>,
}

/// Lookups of keys that share some bits of their hash. There are enough of them that processors seldom count in the same one.
#[derive(Default)]
#[repr(align(128))]
struct Counts {
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Default)]
#[repr(align(128))]
struct Set(Mutex<Places>);

#[derive(Default)]
struct Places {
    /// The last commit that wrote any key of the set.
    written: u64,
    rows: [Option<Row>; WAYS],
    tags: [u16; WAYS],
    /// A bit for each place: asked for since the hand passed.
    used: u8,
}

/// A row in one piece: its commit, whether it is there, the length of its key, key, value.
#[derive(Clone)]
struct Row(Arc<[u8]>);

/// A key's row: its commit, or `None` with the sequence number from which on the key is known to be absent.
type Known = Option<(u64, Value)>;

impl Row {
    const HEAD: usize = 8 + 1 + 2;

    fn new(key: &[u8], since: u64, value: Option<&[u8]>) -> Self {
        let mut bytes = Vec::with_capacity(Self::HEAD + key.len() + value.map_or(0, <[u8]>::len));
        bytes.extend_from_slice(&since.to_ne_bytes());
        bytes.push(u8::from(value.is_some()));
        bytes.extend_from_slice(&(key.len() as u16).to_ne_bytes());
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(value.unwrap_or_default());
        Self(bytes.into())
    }

    /// The commit that wrote it; of an absent one, a commit that found it absent.
    fn since(&self) -> u64 {
        self.0.first_chunk().map_or(u64::MAX, |since| u64::from_ne_bytes(*since))
    }

    fn is_present(&self) -> bool {
        self.0[8] != 0
    }

    fn key(&self) -> &[u8] {
        &self.0[Self::HEAD..self.value_at()]
    }

    fn value_at(&self) -> usize {
        Self::HEAD + usize::from(u16::from_ne_bytes([self.0[9], self.0[10]]))
    }

    fn known(&self) -> Known {
        let at = self.value_at();
        self.is_present().then(|| (self.since(), Value::from_owner(self.clone()).slice(at..)))
    }

    fn weight(&self) -> u64 {
        OVERHEAD + self.0.len() as u64
    }
}

impl AsRef<[u8]> for Row {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Places {
    fn find(&self, key: &[u8], tag: u16) -> Option<usize> {
        (0..WAYS)
            .find(|&way| self.tags[way] == tag && self.rows[way].as_ref().is_some_and(|row| row.key() == key))
    }

    /// Gives what stood there.
    fn put(&mut self, way: usize, tag: u16, row: Option<Row>) -> Option<Row> {
        self.tags[way] = tag;
        std::mem::replace(&mut self.rows[way], row)
    }

    /// A free place, else one that was not asked for lately.
    fn place(&mut self) -> usize {
        if let Some(free) = self.rows.iter().position(Option::is_none) {
            return free;
        }
        let unused = (0..WAYS).find(|way| self.used & (1 << way) == 0);
        unused.unwrap_or_else(|| {
            self.used = 0;
            0
        })
    }
}

impl RowCache {
    /// `None` when there is no memory for it.
    pub fn new(bytes: u64) -> Option<Self> {
        let sets = (bytes / BYTES_A_SET).next_power_of_two() as usize;
        let blocks = sets.div_ceil(SETS_A_BLOCK);
        let capacity = bytes.checked_sub((blocks * SETS_A_BLOCK * size_of::<Set>()) as u64)?;
        Some(Self {
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
            hash: RandomState::default(),
            capacity,
            weight: AtomicU64::new(0),
            hand: AtomicUsize::new(0),
            counts: (0..COUNTS).map(|_| Counts::default()).collect(),
        })
    }

    fn set(&self, key: &[u8]) -> (&Set, u16) {
        let hash = self.hash.hash_one(key);
        // The number of blocks is a power of two.
        let block = (hash as usize / SETS_A_BLOCK) & (self.blocks.len() - 1);
        let block = self.blocks[block].get_or_init(|| (0..SETS_A_BLOCK).map(|_| Set::default()).collect());
        (&block[hash as usize % SETS_A_BLOCK], (hash >> 48) as u16)
    }

    /// The row as a snapshot at `seq` shows it; `None` when that is not known.
    #[allow(clippy::option_option, reason = "not known, and known to be absent, are different answers")]
    pub fn get(&self, key: &[u8], seq: u64) -> Option<Known> {
        let (set, tag) = self.set(key);
        let known = Self::get_in(set, tag, key, seq);
        let counts = &self.counts[usize::from(tag) % COUNTS];
        let count = if known.is_some() { &counts.hits } else { &counts.misses };
        count.fetch_add(1, Ordering::Relaxed);
        known
    }

    #[allow(clippy::option_option, reason = "not known, and known to be absent, are different answers")]
    fn get_in(set: &Set, tag: u16, key: &[u8], seq: u64) -> Option<Known> {
        let mut places = set.0.lock();
        let way = places.find(key, tag)?;
        places.used |= 1 << way;
        let row = places.rows[way].as_ref().filter(|row| row.since() <= seq)?.clone();
        drop(places);
        Some(row.known())
    }

    pub fn stats(&self) -> RowCacheStats {
        let sum = |count: fn(&Counts) -> &AtomicU64| {
            self.counts.iter().map(|counts| count(counts).load(Ordering::Relaxed)).sum()
        };
        RowCacheStats {
            hits: sum(|counts| &counts.hits),
            misses: sum(|counts| &counts.misses),
            bytes: self.weight.load(Ordering::Relaxed),
        }
    }

    /// What a snapshot at `seq` showed.
    pub fn keep(&self, key: &[u8], seq: u64, row: Option<&(u64, Value)>) {
        // No stored key is longer; the length of one would not fit into a row.
        if key.len() > caps::KEY || row.is_some_and(|(_, value)| value.len() > LONGEST) {
            return;
        }
        let row = match row {
            Some((since, value)) => Row::new(key, *since, Some(value)),
            None => Row::new(key, seq, None),
        };
        let (set, tag) = self.set(key);
        let mut places = set.0.lock();
        if places.written > seq {
            return;
        }
        let way = places.find(key, tag).unwrap_or_else(|| places.place());
        let weight = row.weight();
        let before = places.put(way, tag, Some(row));
        drop(places);
        self.weigh(weight, before);
        self.evict();
    }

    /// Before any snapshot shows these writes: `last` is the sequence number of the snapshot that will.
    pub fn written(&self, writes: &[(u64, Write)], last: u64) {
        for (seq, write) in writes {
            let (key, value) = match write {
                Write::Put(key, value) => (key, Some(value)),
                Write::Delete(key) | Write::DeleteWithoutTrace(key) => (key, None),
            };
            let (set, tag) = self.set(key);
            let mut places = set.0.lock();
            places.written = last;
            let Some(way) = places.find(key, tag) else { continue };
            // Update rows that readers had cached; cache a newly created row only when it is first read.
            let made = places.rows[way].as_ref().is_some_and(|row| !row.is_present());
            let row = match value {
                Some(value) if made || value.len() > LONGEST => None,
                Some(value) => Some(Row::new(key, *seq, Some(value))),
                None => Some(Row::new(key, last, None)),
            };
            let weight = row.as_ref().map_or(0, Row::weight);
            let before = places.put(way, tag, row);
            drop(places);
            self.weigh(weight, before);
        }
    }

    fn weigh(&self, more: u64, less: Option<Row>) {
        let less = less.map_or(0, |row| row.weight());
        self.weight.fetch_add(more.wrapping_sub(less), Ordering::Relaxed);
    }

    /// Goes round the sets like the hand of a clock: what was not asked for since it last came by is given up.
    fn evict(&self) {
        for _ in 0..SWEEP {
            if self.weight.load(Ordering::Relaxed) <= self.capacity {
                return;
            }
            let at = self.hand.fetch_add(1, Ordering::Relaxed);
            let block = self.blocks[at / SETS_A_BLOCK % self.blocks.len()].get();
            let Some(set) = block.map(|block| &block[at % SETS_A_BLOCK]) else { continue };
            let mut places = set.0.lock();
            for way in 0..WAYS {
                if places.used & (1 << way) == 0 {
                    let before = places.rows[way].take();
                    self.weigh(0, before);
                }
            }
            places.used = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;

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
        cache.keep(b"c", 5, row(4, "").as_ref());
        assert_eq!(cache.get(b"a", 5), Some(row(3, "v")));
        assert_eq!(cache.get(b"a", 3), Some(row(3, "v")));
        assert_eq!(cache.get(b"a", 9), Some(row(3, "v")));
        assert_eq!(cache.get(b"a", 2), None, "not yet there");
        assert_eq!(cache.get(b"b", 5), Some(None));
        assert_eq!(cache.get(b"b", 4), None, "it may have been there");
        assert_eq!(cache.get(b"c", 4), Some(row(4, "")));
        let long = vec![b'a'; 1 + (1 << 16)];
        cache.keep(&long, 5, None);
        assert_eq!(cache.get(&long, 5), None, "too long to be kept");
    }

    #[test]
    fn lookups_are_counted_by_what_they_found() {
        let cache = RowCache::new(1 << 20).expect("a cache");
        assert_eq!(cache.get(b"a", 5), None);
        cache.keep(b"a", 5, row(3, "v").as_ref());
        cache.keep(b"b", 5, None);
        assert!(cache.get(b"a", 5).is_some() && cache.get(b"b", 5).is_some());
        assert_eq!(cache.get(b"a", 2), None, "not as that snapshot shows it");
        let stats = cache.stats();
        assert_eq!((stats.hits, stats.misses), (2, 2));
        assert!(stats.bytes > 0);
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
        cache.written(&[(9, put("a", "made"))], 9);
        assert_eq!(cache.get(b"a", 9), None, "a row that was made is kept when it is first read");
        cache.keep(b"a", 9, row(9, "made").as_ref());
        cache.written(&[(10, Write::Put(Key::from_static(b"a"), vec![1; LONGEST + 1].into()))], 10);
        assert_eq!(cache.get(b"a", 10), None, "too long to be kept");
    }

    #[test]
    fn an_old_row_that_comes_late_is_not_believed() {
        let cache = RowCache::new(1 << 20).expect("a cache");
        cache.written(&[(6, put("a", "new"))], 6);
        cache.keep(b"a", 5, row(3, "old").as_ref());
        assert_eq!(cache.get(b"a", 6), None);
        assert_eq!(cache.get(b"a", 5), None);
        cache.keep(b"a", 6, row(6, "new").as_ref());
        cache.keep(b"a", 5, row(3, "old").as_ref());
        assert_eq!(cache.get(b"a", 6), Some(row(6, "new")));
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let cache = RowCache::new(1 << 20).expect("a cache");
        cache.keep(b"often", 5, row(3, "asked for").as_ref());
        for n in 0..100_000_u64 {
            cache.keep(&n.to_be_bytes(), 5, row(3, "some value").as_ref());
            assert!(n % 8 != 0 || cache.get(b"often", 5).is_some());
        }
        let sets = || cache.blocks.iter().filter_map(OnceLock::get).flatten();
        let rows = || sets().flat_map(|set| set.0.lock().rows.clone()).flatten();
        let weight: u64 = rows().map(|row| row.weight()).sum();
        assert_eq!(weight, cache.weight.load(Ordering::Relaxed), "every row is weighed once");
        assert!(weight <= 1 << 20 && rows().count() > 1_000);
        assert!(RowCache::new(0).is_none());
        assert_eq!(size_of::<Set>(), 128);
    }

    /// Readers and a committer at once, over few keys: whatever is known is what the snapshot shows.
    #[test]
    fn agrees_with_the_tables_under_fire() {
        const KEYS: usize = 50;
        // Too small for all of them.
        let cache = RowCache { capacity: 1 << 10, ..RowCache::new(1 << 20).expect("a cache") };
        let key = |n: usize| Key::from(format!("key {n}"));
        // For each key, the commits that wrote it; odd ones delete.
        let tables: Vec<Mutex<Vec<u64>>> = (0..KEYS).map(|_| Mutex::default()).collect();
        let shown = |n: usize, seq: u64| {
            let commits = tables[n].lock();
            let last = commits.iter().rev().find(|commit| **commit <= seq).copied();
            last.filter(|commit| commit % 2 == 0).map(|commit| (commit, Value::from(commit.to_string())))
        };
        let published = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for seq in 1..20_000 {
                    let n = (seq * 7 % KEYS as u64) as usize;
                    let write = match seq % 2 {
                        0 => Write::Put(key(n), seq.to_string().into()),
                        _ => Write::Delete(key(n)),
                    };
                    tables[n].lock().push(seq);
                    cache.written(&[(seq, write)], seq);
                    published.store(seq, Ordering::Release);
                }
            });
            for start in 0..2 {
                let (cache, published) = (&cache, &published);
                scope.spawn(move || {
                    for n in (start..).step_by(3).map(|n| n % KEYS) {
                        let seq = published.load(Ordering::Acquire);
                        match cache.get(&key(n), seq) {
                            Some(known) => assert_eq!(known, shown(n, seq)),
                            None => cache.keep(&key(n), seq, shown(n, seq).as_ref()),
                        }
                        if seq == 19_999 {
                            return;
                        }
                    }
                });
            }
        });
    }
}
