//! The engine of one process: rows in memory or in an embedded store, bytes in extents, and one committer for both.

pub(crate) mod aside;
mod clock;
mod commit;
mod embedded;
mod extent;
mod giving_back;
mod memory;
pub(crate) mod scan;
mod shared;
mod space;
mod store;
#[cfg(test)]
mod tests;

use crate::backend::Submission;
use crate::contention::Contention;
use crate::error::{EngineError, Refusal};
use crate::extents::Extents;
use crate::host::Host;
use crate::key::{Key, Value};
use crate::outcomes::RecentOutcomes;
use crate::stats::EngineStats;
use crate::txn::{ChunkId, Commit, Outcome, Stamp, Ticks, Txn, TxnId, Write};
pub(crate) use clock::EngineClock;
use commit::committer::Committer;
use commit::flusher::Flusher;
use commit::notify::Reply;
use commit::pending::{Ended, PendingCommit, PendingCommits};
use giving_back::{Balance, balance};
use memory::Memory;
use shared::{Published, Shared};
use space::{Seen, Space};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use store::{Store, version};
use tokio::sync::watch;

pub use embedded::{OpenError, Options};
pub use extent::ExtentOptions;
pub(crate) use extent::LocalExtents;
pub(crate) use store::Snapshot;

/// The key of the row that is written when the engine needs a commit of its own.
const TICK: &[u8] = b"\0t";

pub(crate) struct Local {
    shared: Arc<Shared>,
    pending: Arc<PendingCommits>,
    flusher: Arc<Flusher>,
    extents: Extents,
    /// Set when the committer has ended; true after a clean stop.
    ended: watch::Receiver<Option<bool>>,
    committer: Option<JoinHandle<()>>,
}

impl Local {
    pub fn memory(host: Host) -> Self {
        let clock = EngineClock::new(host.clock.clone(), Ticks(0));
        let store = Store::Memory(Arc::new(Memory::default()));
        let published = Arc::new(Published::new(store.snapshot(0)));
        let recent = RecentOutcomes::default();
        Self::start(Shared::new(store, LocalExtents::memory(), clock, published, recent))
    }

    pub fn open(dir: &Path, options: Options, host: Host) -> Result<Self, OpenError> {
        embedded::open(dir, options, host).map(Self::start)
    }

    fn start(shared: Shared) -> Self {
        let shared = Arc::new(shared);
        let pending = Arc::new(PendingCommits::default());
        let (done, ended) = watch::channel(None);
        let committer = Committer::new(shared.clone(), pending.clone());
        let thread = std::thread::Builder::new().name("committer".into()).spawn(move || {
            let clean = committer.run();
            let _ = done.send(Some(clean));
        });
        let committer = match thread {
            Ok(thread) => Some(thread),
            Err(_) => {
                shared.stop("no thread for the committer");
                pending.end(Ended::Dropped);
                None
            }
        };
        let flusher = Arc::new(Flusher::start(shared.clone(), pending.clone()));
        let waiting = pending.clone();
        shared.extents.start_collector(Arc::new(move |copies| commit_copies(&waiting, copies)));
        let waiting = pending.clone();
        shared.store.start_merging(Box::new(move || tick(&waiting)));
        let extents = Extents::local(shared.extents.clone());
        Self { shared, pending, flusher, extents, ended, committer }
    }

    pub fn snapshot(&self) -> (Arc<Snapshot>, Stamp) {
        let snapshot = self.shared.published.get();
        // The clock is read after the snapshot is taken: the stamp is not earlier than any commit that it shows.
        let stamp = Stamp { version: version(snapshot.seq()), now: self.shared.clock.now() };
        (snapshot, stamp)
    }

    /// The caps have been judged.
    pub async fn commit(&self, txn: Txn, how: Submission) -> Result<Commit, Refusal> {
        if let Some(reason) = self.stopped() {
            return Err(Refusal::Error(EngineError::Unavailable(reason)));
        }
        self.check_space(&txn, how.gives_back).map_err(Refusal::Error)?;
        let (reply, verdict) = Reply::channel();
        self.flusher.push(PendingCommit { txn, size: how.size, read_at: how.read_at, reply })?;
        verdict.await.unwrap_or(Err(Refusal::Error(EngineError::Unknown)))
    }

    /// The last space is for commits that give back: a full disk would stop the engine for good.
    fn check_space(&self, txn: &Txn, gives_back: bool) -> Result<(), EngineError> {
        let shared = &self.shared;
        let Some(seen) = shared.extents.space().map(Space::seen).filter(Seen::is_low) else { return Ok(()) };
        shared.store.make_room();
        let taken = !seen.is_full()
            && match balance(txn, &shared.published.get(), &shared.extents, gives_back)? {
                Balance::Grows => false,
                Balance::Shrinks(bytes) => shared.store.may_shrink(bytes),
                Balance::Promises(bytes) => shared.store.may_promise(bytes),
                Balance::GivesBack => true,
            };
        if taken { Ok(()) } else { Err(EngineError::OutOfSpace) }
    }

    pub fn outcome(&self, id: TxnId) -> Result<Outcome, EngineError> {
        let commit = self.shared.recent.lock().get(id);
        match (commit, self.stopped()) {
            (Some(commit), _) => Ok(Outcome::Committed(commit)),
            (None, Some(reason)) => Err(EngineError::Unavailable(reason)),
            (None, None) => Ok(Outcome::NotCommitted),
        }
    }

    pub fn clock(&self) -> &EngineClock {
        &self.shared.clock
    }

    pub fn extents(&self) -> &Extents {
        &self.extents
    }

    pub fn contention(&self) -> &Contention {
        &self.shared.contention
    }

    pub async fn close(&self) -> Result<(), EngineError> {
        let (shared, flusher) = (self.shared.clone(), self.flusher.clone());
        // Waits for threads.
        let stop = move || {
            shared.extents.stop_collector();
            shared.store.stop_merging();
            flusher.stop();
        };
        let _ = tokio::task::spawn_blocking(stop).await;
        self.pending.end(Ended::Closed);
        let mut ended = self.ended.clone();
        let clean = ended.wait_for(Option::is_some).await.is_ok_and(|clean| *clean == Some(true));
        if clean {
            Ok(())
        } else {
            Err(EngineError::Unavailable(self.stopped().unwrap_or("not stopped cleanly")))
        }
    }

    pub fn stats(&self) -> EngineStats {
        let shared = &self.shared;
        EngineStats {
            transactions: shared.published.get().seq(),
            groups: shared.groups.load(Ordering::Relaxed),
            syncs: shared.syncs.stats(),
            row_cache: shared.store.row_cache_stats(),
            available_bytes: shared.extents.space().map(|space| space.seen().available),
            reads_aside: shared.store.reads_aside(),
            remote: None,
            objects: None,
        }
    }

    pub fn stopped(&self) -> Option<&'static str> {
        self.shared.stopped()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.shared.extents.stop_collector();
        self.shared.store.stop_merging();
        self.flusher.stop();
        self.pending.end(Ended::Dropped);
        // So that the directory is free when this returns.
        if let Some(committer) = self.committer.take() {
            let _ = committer.join();
        }
    }
}

/// The collector's commit: copies take the place of the chunks they were made from.
fn commit_copies(pending: &PendingCommits, copies: Vec<ChunkId>) -> Result<(), EngineError> {
    commit_own(pending, vec![], copies)
}

/// A row of no meaning: see [`embedded::Tick`]. When it is not committed, nothing is to be waited for.
fn tick(pending: &PendingCommits) {
    let _ = commit_own(pending, vec![Write::Put(Key::from_static(TICK), Value::new())], vec![]);
}

/// Blocks until it is durable.
fn commit_own(
    pending: &PendingCommits,
    writes: Vec<Write>,
    publish: Vec<ChunkId>,
) -> Result<(), EngineError> {
    let txn = Txn { writes, publish, ..Txn::new(TxnId(0)) };
    let (reply, verdict) = Reply::channel();
    pending.push(PendingCommit { size: 64 + txn.publish.len() * 64, txn, read_at: None, reply })?;
    verdict.blocking_recv().unwrap_or(Err(Refusal::Error(EngineError::Unknown)))?;
    Ok(())
}
