//! Which rows are read on the caller's thread, and which aside.
//!
//! A caller is often a lane, on which other requests wait. A row in the row cache or in a memtable, and a row that no table
//! can have, is read where it is asked for. A row of a table takes a few microseconds when the block is in memory, fjall's
//! or the system's, and the time of a disk when not. fjall does not tell beforehand. So each table is trusted or doubted by
//! how long its last reads took: a trusted one is read on the caller's thread, and doubted after one slow read; a
//! doubted one is read aside, and trusted after [`PROOF`] quick reads in a row. Tables of an earlier run begin in doubt. So
//! of reads that need the disk, few are made on a caller's thread, and of those that do not, hardly any is made aside
//! (decision 0024).

use super::Spaces;
use fjall::{AbstractTree, Keyspace};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use xxhash_rust::xxh3::xxh3_64;

/// Reads aside at a time; each may hold a descriptor.
pub(super) const ASIDE: usize = 16;
/// A read that took longer is taken for one that needed the disk. A shorter one delays no other request noticeably.
const SLOW: Duration = Duration::from_micros(100);
/// Quick reads in a row by which a doubted table is trusted.
const PROOF: u32 = 32;
/// Tables that share a place are trusted and doubted together.
const PLACES: usize = 4_096;

pub(super) struct TableReads {
    /// How many quick reads each table still lacks; 0: it is trusted.
    doubts: Box<[AtomicU32]>,
    turns: Arc<Semaphore>,
    aside: AtomicU64,
}

/// Where a row that is in no cache has to be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In memory only: no table can have it.
    Memory,
    /// In tables; the place of one that is doubted, when one is.
    Tables(usize),
}

impl Default for TableReads {
    fn default() -> Self {
        Self {
            doubts: (0..PLACES).map(|_| AtomicU32::new(0)).collect(),
            turns: Arc::new(Semaphore::new(ASIDE)),
            aside: AtomicU64::new(0),
        }
    }
}

impl TableReads {
    /// Tables of an earlier run may not be in memory.
    pub fn doubt_all<'a>(&self, keyspaces: impl IntoIterator<Item = &'a Keyspace>) {
        for keyspace in keyspaces {
            for table in keyspace.tree.current_version().iter_tables() {
                self.doubts[place(keyspace, table.id())].store(PROOF, Ordering::Relaxed);
            }
        }
    }

    pub fn find(&self, keyspace: &Keyspace, key: &[u8]) -> Place {
        let hash = xxh3_64(key);
        let version = keyspace.tree.current_version();
        let mut found = Place::Memory;
        for table in
            version.iter_levels().flat_map(|level| level.iter()).filter_map(|run| run.get_for_key(key))
        {
            let filter = table.pinned_filter_block.as_ref();
            // A filter that cannot be read is the read's own affair.
            if filter.is_some_and(|filter| !filter.maybe_contains_hash(hash).unwrap_or(true)) {
                continue;
            }
            let at = place(keyspace, table.id());
            if self.is_doubted(at) {
                return Place::Tables(at);
            }
            if found == Place::Memory {
                found = Place::Tables(at);
            }
        }
        found
    }

    pub fn is_doubted(&self, at: usize) -> bool {
        self.doubts[at].load(Ordering::Relaxed) > 0
    }

    /// A read of this table took so long.
    pub fn took(&self, at: usize, time: Duration) {
        let doubt = &self.doubts[at];
        if time > SLOW {
            doubt.store(PROOF, Ordering::Relaxed);
        } else if doubt.load(Ordering::Relaxed) > 0 {
            let _ =
                doubt.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |lacking| lacking.checked_sub(1));
        }
    }

    /// The turns to read aside.
    pub fn turns(&self) -> &Arc<Semaphore> {
        &self.turns
    }

    pub fn count_aside(&self) {
        self.aside.fetch_add(1, Ordering::Relaxed);
    }

    pub fn aside(&self) -> u64 {
        self.aside.load(Ordering::Relaxed)
    }
}

fn place(keyspace: &Keyspace, table: u64) -> usize {
    (table as usize).wrapping_mul(4).wrapping_add(keyspace.tree.id() as usize) % PLACES
}

impl Spaces {
    /// Whether the active memtable has something about this key: a table is not read for it then.
    pub(super) fn is_in_memtable(&self, key: &[u8], seqno: fjall::SeqNo) -> bool {
        self.of(key).tree.active_memtable().get(key, seqno).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::txn::{Txn, Write};
    use crate::{Engine, Host, Options};

    const QUICK: Duration = Duration::from_micros(5);

    #[test]
    fn a_slow_read_is_doubted_until_enough_quick_ones_follow() {
        let reads = TableReads::default();
        assert!(!reads.is_doubted(7));
        reads.took(7, QUICK);
        assert!(!reads.is_doubted(7));
        reads.took(7, SLOW * 2);
        assert!(reads.is_doubted(7) && !reads.is_doubted(8));
        for _ in 1..PROOF {
            reads.took(7, QUICK);
        }
        assert!(reads.is_doubted(7), "one is lacking");
        reads.took(7, SLOW * 2);
        for _ in 0..PROOF {
            assert!(reads.is_doubted(7), "they are counted anew after a slow one");
            reads.took(7, QUICK);
        }
        assert!(!reads.is_doubted(7));
    }

    const ROWS: u64 = 4_000;

    fn key(n: u64) -> Key {
        Key::from(format!("row/{n:06}"))
    }

    async fn commit(engine: &Engine, writes: Vec<Write>) {
        let txn = Txn { writes, ..Txn::new(engine.new_txn_id()) };
        engine.commit(txn).await.expect("commits");
    }

    /// How many reads went aside meanwhile.
    async fn aside(engine: &Engine, keys: impl IntoIterator<Item = Key>, present: bool) -> u64 {
        let before = engine.stats().reads_aside;
        let reader = engine.reader().await.expect("a reader");
        for key in keys {
            assert_eq!(reader.get(key.clone()).await.expect("is read").is_some(), present, "{key:?}");
        }
        engine.stats().reads_aside - before
    }

    #[tokio::test]
    async fn what_may_need_the_disk_is_read_aside_and_nothing_else() {
        let home = tempfile::tempdir().expect("a directory");
        let options = || Options { memtable_bytes: 1 << 20, ..Options::default() };
        let open = || Engine::open(home.path(), options(), Host::real()).expect("opens");
        let engine = open();
        for first in (0..ROWS).step_by(200) {
            let row = |n| Write::Put(key(n), vec![b'v'; 1_000].into());
            commit(&engine, (first..first + 200).map(row).collect()).await;
        }
        engine.close().await.expect("closes");
        drop(engine);

        let engine = open();
        let some = || (0..ROWS / 2).step_by(100).map(key);
        let first = aside(&engine, some(), true).await;
        assert!(first > 0, "tables of an earlier run are doubted");
        assert_eq!(aside(&engine, some(), true).await, 0, "the row cache has them");
        let absent = (0..ROWS).map(|n| Key::from(format!("row/{n:06}/absent")));
        let absent = aside(&engine, absent, false).await;
        assert!(absent < ROWS / 10, "{absent}: the filters of the tables tell");
        // Now and then the memtable becomes a table between the two.
        let mut tries = Vec::new();
        for _ in 0..5 {
            let fresh = [key(77), "fresh".into()];
            commit(&engine, fresh.iter().map(|key| Write::Put(key.clone(), "new".into())).collect()).await;
            tries.push(aside(&engine, fresh, true).await);
        }
        assert!(tries.contains(&0), "the memtable has them: {tries:?}");

        // A batch goes aside once, and comes back in order.
        let reader = engine.reader().await.expect("a reader");
        let keys = vec![key(77), "absent".into(), key(1), key(ROWS - 1_000), key(2)];
        let found = reader.get_many(keys.clone()).await.expect("is read");
        for (key, found) in keys.into_iter().zip(found) {
            assert_eq!(reader.get_untracked(key).await.expect("is read"), found);
        }
    }
}
