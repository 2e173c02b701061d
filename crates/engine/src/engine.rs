//! The engine's handle.

use crate::clock::EngineClock;
use crate::coalescer::Committer;
use crate::core::{Core, Published, Recent};
use crate::crowd::Crowd;
use crate::embedded::{OpenError, Options};
use crate::error::EngineError;
use crate::extent::{Extents, Pin};
use crate::fifo::Fifo;
use crate::giving_back::{Balance, balance};
use crate::host::{Host, Random};
use crate::key::{Key, Value};
use crate::limits;
use crate::memory::Memory;
use crate::queue::{Ended, Job, Queue, Refusal};
use crate::reader::Reader;
use crate::reply::Reply;
use crate::space::{Seen, Space};
use crate::store::Store;
use crate::txn::{ChunkId, Commit, Outcome, Stamp, Ticks, Txn, TxnId, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// The key of the row that is written when the engine needs a commit of its own.
const TICK: &[u8] = b"\0t";

/// Ordered keys and extents of bytes. Clones share one engine; when the last is dropped without
/// [`Engine::close`], it ends as after a crash, and loses nothing that was acknowledged.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
    gives_back: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Since the directory was made.
    pub transactions: u64,
    /// Since the engine was opened.
    pub groups: u64,
}

struct Inner {
    core: Arc<Core>,
    queue: Arc<Queue>,
    fifo: Arc<Fifo>,
    /// Set when the committer has ended; true after a clean stop.
    ended: watch::Receiver<Option<bool>>,
    committer: Option<JoinHandle<()>>,
}

impl Engine {
    /// Everything in memory, gone with the last handle.
    pub fn memory(host: Host) -> Self {
        let clock = EngineClock::new(host.clock.clone(), Ticks(0));
        let store = Store::Memory(Arc::new(Memory::default()));
        let published = Arc::new(Published::new(store.snapshot(0)));
        let core = Core::new(host, store, Extents::memory(), clock, published, Recent::default());
        Self::start(core)
    }

    /// The directory's engine; created when the directory is empty or not there.
    pub fn open(dir: &Path, options: Options, host: Host) -> Result<Self, OpenError> {
        crate::embedded::open(dir, options, host).map(Self::start)
    }

    fn start(core: Core) -> Self {
        let core = Arc::new(core);
        let queue = Arc::new(Queue::default());
        let (done, ended) = watch::channel(None);
        let committer = Committer::new(core.clone(), queue.clone());
        let thread = std::thread::Builder::new().name("committer".into()).spawn(move || {
            let clean = committer.run();
            let _ = done.send(Some(clean));
        });
        let committer = match thread {
            Ok(thread) => Some(thread),
            Err(_) => {
                core.stop("no thread for the committer");
                queue.end(Ended::Dropped);
                None
            }
        };
        let waiting = queue.clone();
        core.extents.start_collector(Arc::new(move |copies| commit_copies(&waiting, copies)));
        let waiting = queue.clone();
        core.store.start_merging(Box::new(move || tick(&waiting)));
        let inner = Arc::new(Inner { core, queue, fifo: Arc::default(), ended, committer });
        Self { inner, gives_back: false }
    }

    /// A handle for deletions: each of its commits gives space back, or writes a mark by which later ones do. They are
    /// taken when little space is left, if they write little and no chunks.
    pub fn giving_back(&self) -> Self {
        Self { gives_back: true, ..self.clone() }
    }

    /// A snapshot of everything committed.
    pub async fn reader(&self) -> Result<Reader, EngineError> {
        let snapshot = self.inner.core.published.get();
        // After the snapshot is taken: its stamp is not earlier than any commit that it shows.
        let stamp = Stamp { version: snapshot.seq(), now: self.now() };
        Ok(Reader::new(snapshot, stamp))
    }

    /// All or nothing, durable when it returns. Goes on even if the future is dropped.
    pub async fn commit(&self, txn: Txn) -> Result<Commit, EngineError> {
        Ok(self.submit(txn, None).await?)
    }

    pub(crate) async fn submit(&self, txn: Txn, snapshot: Option<u64>) -> Result<Commit, Refusal> {
        let size = limits::check(&txn).map_err(Refusal::Error)?;
        if let Some(reason) = self.is_stopped() {
            return Err(Refusal::Error(EngineError::Unavailable(reason)));
        }
        self.check_space(&txn).map_err(Refusal::Error)?;
        if !txn.publish.is_empty() {
            self.inner.core.extents.flush(&txn.publish).await.map_err(Refusal::Error)?;
        }
        let (reply, answer) = Reply::channel();
        self.inner.queue.push(Job { txn, size, snapshot, reply })?;
        answer.await.unwrap_or(Err(Refusal::Error(EngineError::Unknown)))
    }

    /// The last space is for commits that give back: a full disk would stop the engine for good.
    fn check_space(&self, txn: &Txn) -> Result<(), EngineError> {
        let core = &self.inner.core;
        let Some(seen) = core.extents.space().map(Space::seen).filter(Seen::is_low) else { return Ok(()) };
        core.store.make_room();
        let taken = !seen.is_full()
            && match balance(txn, &core.published.get(), &core.extents, self.gives_back)? {
                Balance::Grows => false,
                Balance::Shrinks(bytes) => core.store.may_shrink(bytes),
                Balance::Promises(bytes) => core.store.may_promise(bytes),
                Balance::GivesBack => true,
            };
        if taken { Ok(()) } else { Err(EngineError::OutOfSpace) }
    }

    /// What became of a recent transaction. Reaches back some ten thousand transactions, over restarts.
    pub async fn outcome(&self, id: TxnId) -> Result<Outcome, EngineError> {
        let commit = self.inner.core.recent.lock().get(id);
        match (commit, self.is_stopped()) {
            (Some(commit), _) => Ok(Outcome::Committed(commit)),
            (None, Some(reason)) => Err(EngineError::Unavailable(reason)),
            (None, None) => Ok(Outcome::NotCommitted),
        }
    }

    pub fn new_txn_id(&self) -> TxnId {
        TxnId(self.random().u128())
    }

    /// The engine's clock: never backwards, not even over a restart.
    pub fn now(&self) -> Ticks {
        self.inner.core.clock.now()
    }

    /// The wall clock, moved along with the test clock.
    pub fn wall_now(&self) -> Ticks {
        self.inner.core.clock.wall()
    }

    /// The engine's clock without what tests moved it by: what is measured by this does not jump.
    pub fn steady_now(&self) -> Ticks {
        self.inner.core.clock.steady()
    }

    /// Moves both clocks forward, for tests.
    pub fn advance_clock(&self, by: Duration) {
        self.inner.core.clock.advance(by);
    }

    /// Moves both clocks to so far from where they would be, unless they are farther.
    pub fn move_clock_to(&self, offset: Ticks) {
        self.inner.core.clock.move_to(offset);
    }

    /// The same for what earlier runs were moved by, before anything is measured by these clocks.
    pub fn resume_clock(&self, offset: Ticks) {
        self.inner.core.clock.resume(offset);
    }

    pub fn extents(&self) -> &Extents {
        &self.inner.core.extents
    }

    /// While the pin lives, no chunk released from now on is recycled.
    pub fn pin(&self) -> Pin {
        self.inner.core.extents.pin()
    }

    /// Commits what waits, then stops; everything later is `Unavailable`. Again is harmless.
    pub async fn close(&self) -> Result<(), EngineError> {
        let core = self.inner.core.clone();
        // Waits for threads.
        let stop = move || {
            core.extents.stop_collector();
            core.store.stop_merging();
        };
        let _ = tokio::task::spawn_blocking(stop).await;
        self.inner.queue.end(Ended::Closed);
        let mut ended = self.inner.ended.clone();
        let clean = ended.wait_for(Option::is_some).await.is_ok_and(|clean| *clean == Some(true));
        if clean {
            Ok(())
        } else {
            Err(EngineError::Unavailable(self.is_stopped().unwrap_or("not stopped cleanly")))
        }
    }

    /// Transactions and groups committed; their ratio says how well commits share a sync.
    pub fn stats(&self) -> EngineStats {
        let core = &self.inner.core;
        EngineStats { transactions: core.published.get().seq(), groups: core.groups.load(Ordering::Relaxed) }
    }

    /// Why the engine stopped for good, after a write to stable storage failed.
    pub fn is_stopped(&self) -> Option<&'static str> {
        self.inner.core.stopped()
    }

    #[cfg(test)]
    pub(crate) fn published(&self) -> Arc<crate::store::Snapshot> {
        self.inner.core.published.get()
    }

    pub(crate) fn fifo(&self) -> &Arc<Fifo> {
        &self.inner.fifo
    }

    pub(crate) fn crowd(&self) -> &Crowd {
        &self.inner.core.crowd
    }

    pub(crate) fn random(&self) -> &Random {
        &self.inner.core.host.random
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.core.extents.stop_collector();
        self.core.store.stop_merging();
        self.queue.end(Ended::Dropped);
        // So that the directory is free when this returns.
        if let Some(committer) = self.committer.take() {
            let _ = committer.join();
        }
    }
}

/// The collector's commit: copies take the place of the chunks they were made from.
fn commit_copies(queue: &Queue, copies: Vec<ChunkId>) -> Result<(), EngineError> {
    commit_own(queue, vec![], copies)
}

/// A row of no meaning: see [`crate::embedded::Tick`]. When it is not committed, nothing is to be waited for.
fn tick(queue: &Queue) {
    let _ = commit_own(queue, vec![Write::Put(Key::from_static(TICK), Value::new())], vec![]);
}

/// Blocks until it is durable.
fn commit_own(queue: &Queue, writes: Vec<Write>, publish: Vec<ChunkId>) -> Result<(), EngineError> {
    let txn = Txn {
        id: TxnId(0),
        checks: vec![],
        range_checks: vec![],
        writes,
        publish,
        release: vec![],
        deadline: None,
    };
    let (reply, answer) = Reply::channel();
    queue.push(Job { size: 64 + txn.publish.len() * 64, txn, snapshot: None, reply })?;
    answer.blocking_recv().unwrap_or(Err(Refusal::Error(EngineError::Unknown)))?;
    Ok(())
}
