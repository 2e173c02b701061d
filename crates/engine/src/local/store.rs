//! What a store behind the committer must do: apply a group atomically and durably, and read a snapshot.
//! An enum, not a trait object: reads stay direct calls.

use crate::error::EngineError;
use crate::key::{Key, KeyRange, Value};
use crate::local::embedded::{Embedded, EmbeddedSnapshot, Tick};
use crate::local::memory::{Memory, MemorySnapshot};
use crate::stats::RowCacheStats;
use crate::txn::{Entry, Ticks, TxnId, Version, Write};
use std::sync::Arc;
use tokio::sync::Semaphore;

pub(crate) enum Store {
    Memory(Arc<Memory>),
    Embedded(Box<Embedded>),
}

pub(crate) enum Snapshot {
    Memory(MemorySnapshot),
    Embedded(EmbeddedSnapshot),
}

/// Everything that one group commit writes. A key stands in it at most once.
#[derive(Debug)]
pub(crate) struct Group {
    /// The sequence numbers of its transactions are `first..=last`.
    pub first: u64,
    pub last: u64,
    pub now: Ticks,
    /// In order of their sequence numbers; `None` for the engine's own transactions.
    pub ids: Vec<TxnId>,
    /// Each with the sequence number of its transaction, which becomes the value's version.
    pub writes: Vec<(u64, Write)>,
}

/// What to do after a row was seen.
pub(crate) enum Step {
    Next,
    /// Go on at the first key not less than this (only forwards).
    Seek(Key),
    Stop,
}

/// A stored row: the sequence number of the commit that wrote it, and the value.
pub(crate) struct Row {
    pub key: Key,
    pub seq: u64,
    pub value: Value,
}

/// The version of what the commit with this sequence number wrote, and of a snapshot that ends with it.
pub(crate) fn version(seq: u64) -> Version {
    Version(u128::from(seq))
}

/// The sequence number of a version; `None` when it is not one of this engine's.
pub(crate) fn sequence(version: Version) -> Option<u64> {
    u64::try_from(version.0).ok()
}

pub(crate) fn entry(seq: u64, value: Value) -> Entry {
    Entry { version: version(seq), value }
}

impl Store {
    /// Writes a group behind those before it; it is durable after the next [`Self::sync`]. An error means: stop
    /// for good, the outcome is unknown.
    pub fn apply(&self, group: &Group) -> Result<(), EngineError> {
        match self {
            #[cfg(test)]
            Self::Memory(memory) if memory.fails.load(std::sync::atomic::Ordering::Relaxed) => {
                Err(EngineError::Unknown)
            }
            Self::Memory(memory) => {
                memory.apply(group);
                Ok(())
            }
            Self::Embedded(embedded) => embedded.apply(group),
        }
    }

    /// Blocks until everything applied before the call is on stable storage. Another group may be applied in
    /// the meantime. An error means: stop for good.
    pub fn sync(&self) -> Result<(), EngineError> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Embedded(embedded) => embedded.sync(),
        }
    }

    pub fn row_cache_stats(&self) -> RowCacheStats {
        match self {
            Self::Memory(_) => RowCacheStats::default(),
            Self::Embedded(embedded) => embedded.row_cache_stats(),
        }
    }

    /// Called for each group in order, once it is durable and before any reader gets a snapshot that shows it.
    pub fn publish_to_cache(&self, group: &Group) {
        match self {
            Self::Memory(_) => {}
            Self::Embedded(embedded) => embedded.publish_to_cache(group),
        }
    }

    /// A snapshot of everything applied; `seq` is the last applied sequence number.
    pub fn snapshot(&self, seq: u64) -> Snapshot {
        match self {
            Self::Memory(memory) => Snapshot::Memory(memory.snapshot(seq)),
            Self::Embedded(embedded) => Snapshot::Embedded(embedded.snapshot(seq)),
        }
    }

    /// Merges tables from now on.
    pub fn start_merging(&self, tick: Tick) {
        if let Self::Embedded(embedded) = self {
            embedded.start_merging(tick);
        }
    }

    /// Waits for the end of a merge under way. The committer must still be running.
    pub fn stop_merging(&self) {
        if let Self::Embedded(embedded) = self {
            embedded.stop_merging();
        }
    }

    /// Space is low: what was deleted is wanted back.
    pub fn make_room(&self) {
        if let Self::Embedded(embedded) = self {
            embedded.make_room();
        }
    }

    /// Whether so many bytes may be written, for more that goes, before merges have given back what went.
    pub fn may_shrink(&self, bytes: u64) -> bool {
        match self {
            Self::Memory(_) => true,
            Self::Embedded(embedded) => embedded.may_shrink(bytes),
        }
    }

    /// The same for what a deletion writes: some is left for it when other commits have used up theirs.
    pub fn may_promise(&self, bytes: u64) -> bool {
        match self {
            Self::Memory(_) => true,
            Self::Embedded(embedded) => embedded.may_promise(bytes),
        }
    }

    pub fn reads_aside(&self) -> u64 {
        match self {
            Self::Memory(_) => 0,
            Self::Embedded(embedded) => embedded.reads_aside(),
        }
    }

    /// Why nothing more may be written.
    pub fn failed(&self) -> Option<&'static str> {
        match self {
            Self::Memory(_) => None,
            Self::Embedded(embedded) => embedded.failed(),
        }
    }

    /// Makes a note of how far the engine got, for the next open to compare with.
    pub fn note(&self, seq: u64, now: Ticks, clean: bool) -> Result<(), EngineError> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Embedded(embedded) => embedded.note(seq, now, clean),
        }
    }
}

impl Snapshot {
    pub fn seq(&self) -> u64 {
        match self {
            Self::Memory(snapshot) => snapshot.seq(),
            Self::Embedded(snapshot) => snapshot.seq(),
        }
    }

    pub fn get(&self, key: &[u8]) -> Result<Option<(u64, Value)>, EngineError> {
        match self {
            Self::Memory(snapshot) => Ok(snapshot.get(key)),
            Self::Embedded(snapshot) => snapshot.get(key),
        }
    }

    /// Without waiting for a disk, so far as that is known; `None` when it has to be read aside.
    pub fn get_at_once(&self, key: &[u8]) -> Option<Result<Option<(u64, Value)>, EngineError>> {
        match self {
            Self::Memory(snapshot) => Some(Ok(snapshot.get(key))),
            Self::Embedded(snapshot) => snapshot.get_at_once(key),
        }
    }

    pub fn entry_at_once(&self, key: &[u8]) -> Option<Result<Option<Entry>, EngineError>> {
        let found = self.get_at_once(key)?;
        Some(found.map(|row| row.map(|(seq, value)| entry(seq, value))))
    }

    /// Where waiting for a disk delays no other request.
    pub fn entry_aside(&self, key: &[u8]) -> Result<Option<Entry>, EngineError> {
        let found = match self {
            Self::Memory(snapshot) => snapshot.get(key),
            Self::Embedded(snapshot) => snapshot.get_aside(key)?,
        };
        Ok(found.map(|(seq, value)| entry(seq, value)))
    }

    /// The turns of reads aside.
    pub fn turns_aside(&self) -> Option<&Arc<Semaphore>> {
        match self {
            Self::Memory(_) => None,
            Self::Embedded(snapshot) => Some(snapshot.turns_aside()),
        }
    }

    /// The same for a snapshot that shows groups which are not yet [published to the cache](Store::publish_to_cache).
    pub fn get_latest(&self, key: &[u8]) -> Result<Option<(u64, Value)>, EngineError> {
        match self {
            Self::Memory(snapshot) => Ok(snapshot.get(key)),
            Self::Embedded(snapshot) => snapshot.get_latest(key),
        }
    }

    /// Shows the rows of the range in order, or in reverse, for as long as `visit` asks for more.
    pub fn walk(
        &self,
        range: &KeyRange,
        reverse: bool,
        visit: &mut dyn FnMut(Row) -> Step,
    ) -> Result<(), EngineError> {
        match self {
            Self::Memory(snapshot) => snapshot.walk(range, reverse, visit),
            Self::Embedded(snapshot) => return snapshot.walk(range, reverse, visit),
        }
        Ok(())
    }
}
