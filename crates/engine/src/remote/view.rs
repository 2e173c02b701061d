//! One snapshot, as a reader sees it.
//!
//! An attempt of `run` begins with its first read, and without holding one. Each batch of keys is one statement, which also tells whether anything that
//! was read before has changed since: if not, all batches together are what the last of them would have found alone, and if so
//! the attempt is torn and begins again. What needs more than keys, and whatever must stay where it was opened, holds a
//! snapshot on a connection of its own.

use super::lanes::Batch;
use super::long_key::index_key;
use super::pinned::Pinned;
use super::primary::PATIENCE;
use super::shared::Shared;
use super::sql::Sql;
use super::together::Asked;
use super::uuid::Uuid;
use crate::backend::{Opening, Waiting};
use crate::caps;
use crate::error::EngineError;
use crate::key::{Key, KeyRange};
use crate::remote::member::bounds_of;
use crate::txn::{Entry, Stamp, Ticks, Version};
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use tokio::sync::Mutex as AsyncMutex;

/// Attempts that were torn before one holds a snapshot from its beginning.
const TORN: u32 = 2;
/// With so many keys read, a snapshot is held rather than to compare them all again.
const COMPARED: usize = 256;

pub(crate) struct RemoteView {
    pub(super) shared: Arc<Shared>,
    known: Mutex<Known>,
    /// Held while a batch is read without a snapshot: the next must compare with it.
    snapshot: AsyncMutex<Option<Arc<Pinned>>>,
    torn: AtomicBool,
    /// Something was read.
    is_begun: AtomicBool,
    /// The time was asked for before that.
    is_dated_early: AtomicBool,
    /// Of the node that was read from last.
    generation: AtomicU64,
    /// The clock after what was read first, and after what was read last, without what a test moved it by.
    first: AtomicU64,
    now: AtomicU64,
    /// It reads from one snapshot, which the first read takes.
    holds: bool,
    /// What it reads may be answered without a commit or another word.
    answers: bool,
}

type Known = HashMap<Key, Option<Entry>, RandomState>;

impl RemoteView {
    pub(super) async fn open(
        shared: &Arc<Shared>,
        mut near: Vec<Key>,
        opening: Opening,
    ) -> Result<(Self, Stamp), EngineError> {
        near.retain(|key| caps::check_key(key).is_ok());
        near.sort_unstable();
        near.dedup();
        let wanted: Vec<Key> = near.iter().map(index_key).collect();
        let (at_once, holds) = match opening {
            Opening::Held => (true, true),
            Opening::AtFirstRead => (!wanted.is_empty(), true),
            Opening::Attempt { torn } => (!wanted.is_empty(), torn >= TORN),
        };
        let (snapshot, batch, generation) = match (at_once, holds) {
            // The first read is the beginning. Until then the time is one that the database has passed for certain.
            (false, _) => {
                let now = Ticks(shared.clock.sent().1.cast_unsigned());
                (None, Batch { entries: Vec::new(), torn: false, now }, 0)
            }
            (true, true) => {
                let (pinned, batch) = shared.pin(&Asked::new(wanted, Vec::new())).await?;
                let generation = pinned.generation();
                (Some(pinned), batch, generation)
            }
            (true, false) => {
                let asked = Asked::new(wanted, Vec::new());
                let (batch, generation) = shared.read_batch(asked, Instant::now() + PATIENCE).await?;
                (None, batch, generation)
            }
        };
        let stamp = Stamp { version: Version(shared.random.u128()), now: shared.clock.moved(batch.now) };
        let view = Self {
            shared: shared.clone(),
            known: Mutex::new(near.into_iter().zip(batch.entries).collect()),
            snapshot: AsyncMutex::new(snapshot),
            torn: AtomicBool::new(false),
            generation: AtomicU64::new(generation),
            first: AtomicU64::new(batch.now.0),
            now: AtomicU64::new(batch.now.0),
            is_begun: AtomicBool::new(at_once),
            is_dated_early: AtomicBool::new(false),
            holds,
            answers: matches!(opening, Opening::Held | Opening::AtFirstRead) && shared.settings.strict,
        };
        if at_once {
            view.answerable().await?;
        }
        Ok((view, stamp))
    }

    pub fn is_torn(&self) -> bool {
        self.torn.load(Ordering::Relaxed)
    }

    /// The clock after everything that was read. All of it together is what the last batch would have found alone, so
    /// nothing of it is dated later than this.
    pub fn now(&self) -> Ticks {
        if !self.is_begun.load(Ordering::Relaxed) {
            self.is_dated_early.store(true, Ordering::Relaxed);
        }
        self.shared.clock.moved(Ticks(self.now.load(Ordering::Relaxed)))
    }

    /// The clock after what was read first, or that of the opening where that was asked for. Nothing that an attempt decides is
    /// dated earlier.
    pub fn first(&self) -> Ticks {
        self.shared.clock.moved(Ticks(self.first.load(Ordering::Relaxed)))
    }

    /// What was read before, or with the opening.
    pub fn known(&self, key: &Key) -> Option<Option<Entry>> {
        self.known.lock().get(key).cloned()
    }

    pub async fn get_many(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, EngineError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<Key> = keys.iter().map(index_key).collect();
        let mut snapshot = self.snapshot.lock().await;
        let entries = if let Some(pinned) = snapshot.clone() {
            drop(snapshot);
            let batch = pinned.read(wanted).await;
            self.noticed(batch)?.entries
        } else if self.holds {
            let (pinned, batch) = self.noticed(self.shared.pin(&Asked::new(wanted, Vec::new())).await)?;
            self.begun(&pinned, &batch);
            *snapshot = Some(pinned);
            drop(snapshot);
            batch.entries
        } else {
            let earlier = self.earlier();
            let batch = if earlier.len() > COMPARED {
                let (pinned, batch) = self.noticed(self.shared.pin(&Asked::new(wanted, earlier)).await)?;
                self.begun(&pinned, &batch);
                *snapshot = Some(pinned);
                batch
            } else {
                let until = Instant::now() + PATIENCE;
                let (batch, generation) = self.shared.read_batch(Asked::new(wanted, earlier), until).await?;
                self.told(generation, batch.now);
                batch
            };
            self.whole(&batch)?;
            // The next batch compares with this one.
            self.known.lock().extend(keys.iter().cloned().zip(batch.entries.iter().cloned()));
            batch.entries
        };
        self.answerable().await?;
        Ok(entries)
    }

    /// The snapshot; from now on one is held.
    pub(super) async fn pinned(&self) -> Result<Arc<Pinned>, EngineError> {
        let mut snapshot = self.snapshot.lock().await;
        if let Some(pinned) = &*snapshot {
            return Ok(pinned.clone());
        }
        let asked = Asked::new(Vec::new(), self.earlier());
        let (pinned, batch) = self.noticed(self.shared.pin(&asked).await)?;
        self.begun(&pinned, &batch);
        *snapshot = Some(pinned.clone());
        self.whole(&batch)?;
        Ok(pinned)
    }

    /// From now on everything is read from this snapshot.
    fn begun(&self, pinned: &Pinned, batch: &Batch) {
        self.told(pinned.generation(), batch.now);
    }

    fn told(&self, generation: u64, now: Ticks) {
        self.generation.store(generation, Ordering::Relaxed);
        self.now.store(now.0, Ordering::Relaxed);
        if !self.is_begun.swap(true, Ordering::Relaxed) && !self.is_dated_early.load(Ordering::Relaxed) {
            self.first.store(now.0, Ordering::Relaxed);
        }
    }

    /// Reads keys ahead of those that will ask for them, in one batch.
    pub async fn fetch(&self, mut keys: Vec<Key>) -> Result<(), EngineError> {
        {
            let known = self.known.lock();
            keys.retain(|key| caps::check_key(key).is_ok() && !known.contains_key(key));
        }
        let entries = self.get_many(keys.clone()).await?;
        self.known.lock().extend(keys.into_iter().zip(entries));
        Ok(())
    }

    fn earlier(&self) -> Vec<(Key, Option<Version>)> {
        let known = self.known.lock();
        known.iter().map(|(key, entry)| (index_key(key), entry.as_ref().map(|entry| entry.version))).collect()
    }

    fn whole(&self, batch: &Batch) -> Result<(), EngineError> {
        if batch.torn {
            self.shared.counters.torn.fetch_add(1, Ordering::Relaxed);
            self.torn.store(true, Ordering::Relaxed);
            return Err(EngineError::Conflict);
        }
        Ok(())
    }

    /// A snapshot that was lost with its connection: an attempt begins again.
    pub(super) fn noticed<T>(&self, read: Result<T, EngineError>) -> Result<T, EngineError> {
        if matches!(read, Err(EngineError::Unavailable(_))) {
            self.torn.store(true, Ordering::Relaxed);
        }
        read
    }

    /// Strict reads: returns when what was read is known to be the newest, if the caller may answer with it.
    pub(super) async fn answerable(&self) -> Result<(), EngineError> {
        match self.answers {
            true => self.shared.barrier.wait(self.generation.load(Ordering::Relaxed)).await,
            false => Ok(()),
        }
    }

    /// For an attempt that commits nothing.
    pub fn confirmation(&self) -> Option<Waiting<'_, ()>> {
        let generation = self.generation.load(Ordering::Relaxed);
        // Nothing was read: there is nothing to confirm.
        if !self.shared.settings.strict || self.answers || generation == 0 {
            return None;
        }
        Some(Box::pin(self.shared.barrier.wait(generation)))
    }

    pub async fn range_digest(&self, range: &KeyRange) -> Result<u128, EngineError> {
        let pinned = self.pinned().await?;
        let (from, to) = bounds_of(range);
        let rows = self.noticed(pinned.query(Sql::Digest, &[&&from[..], &&to[..]]).await)?;
        let Some(row) = rows.first() else { return Err(EngineError::Unavailable("no answer")) };
        let Uuid(digest) = row.try_get(0)?;
        Ok(digest)
    }
}
