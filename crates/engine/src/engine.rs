//! The engine's handle.

use crate::backend::{Backend, Opening, Submission};
use crate::caps;
use crate::error::{EngineError, Refusal};
use crate::extents::Extents;
use crate::host::{Host, Random};
use crate::key::Key;
use crate::local::{Local, OpenError, Options};
use crate::reader::Reader;
#[cfg(feature = "postgres")]
use crate::remote::{ConnectError, Remote, RemoteOptions};
use crate::stats::EngineStats;
use crate::txn::{Commit, Outcome, Stamp, Ticks, Txn, TxnId};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Ordered keys and extents of bytes. Clones share one engine; when the last is dropped without
/// [`Engine::close`], it ends as after a crash, and loses nothing that was acknowledged.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
    gives_back: bool,
}

pub(crate) struct Inner {
    pub backend: Backend,
    pub random: Random,
}

impl Engine {
    /// Everything in memory, gone with the last handle.
    pub fn memory(host: Host) -> Self {
        let random = host.random.clone();
        Self::over(Backend::Local(Local::memory(host)), random)
    }

    /// The directory's engine; created when the directory is empty or not there.
    pub fn open(dir: &Path, options: Options, host: Host) -> Result<Self, OpenError> {
        let random = host.random.clone();
        Ok(Self::over(Backend::Local(Local::open(dir, options, host)?), random))
    }

    /// An engine on a PostgreSQL database that other processes may use as well. Its tasks run on the runtime that this is
    /// called on, which must outlive it.
    #[cfg(feature = "postgres")]
    pub async fn connect(options: RemoteOptions, host: Host) -> Result<Self, ConnectError> {
        let random = host.random.clone();
        let remote = Remote::connect(options, host).await?;
        Ok(Self::over(Backend::Remote(remote), random))
    }

    /// A handle like that of another process on the same store: with connections and memory of its own where the engine is
    /// one of several processes. For tests.
    #[cfg(feature = "postgres")]
    pub async fn another(&self) -> Result<Self, ConnectError> {
        match &self.inner.backend {
            Backend::Local(_) => Ok(self.clone()),
            Backend::Remote(remote) => {
                let (options, host) = remote.origin();
                Self::connect(options, host).await
            }
        }
    }

    fn over(backend: Backend, random: Random) -> Self {
        Self { inner: Arc::new(Inner { backend, random }), gives_back: false }
    }

    /// A handle for deletions: each of its commits gives space back, or writes a mark by which later ones do. They are
    /// taken when little space is left, if they write little and no chunks.
    pub fn giving_back(&self) -> Self {
        Self { gives_back: true, ..self.clone() }
    }

    /// A snapshot of everything committed.
    pub async fn reader(&self) -> Result<Reader, EngineError> {
        self.reader_near(Vec::new).await
    }

    /// The same; `near` tells the keys that will be read first. An engine behind a network fetches them with the opening,
    /// in one round trip; a local one does not ask.
    pub async fn reader_near(&self, near: impl Fn() -> Vec<Key>) -> Result<Reader, EngineError> {
        self.open_reader(near, Opening::Held).await
    }

    /// A snapshot that is taken by the first read, and not earlier than this is called.
    pub async fn reader_at_first_read(&self) -> Result<Reader, EngineError> {
        self.open_reader(Vec::new, Opening::AtFirstRead).await
    }

    pub(crate) async fn open_reader(
        &self,
        near: impl Fn() -> Vec<Key>,
        opening: Opening,
    ) -> Result<Reader, EngineError> {
        let (view, stamp) = match self.inner.backend.view_at_once() {
            Some(opened) => opened,
            // Boxed: the futures of callers stay small.
            None => Box::pin(self.inner.backend.view(near(), opening)).await?,
        };
        Ok(Reader::new(view, stamp))
    }

    /// All or nothing, durable when it returns. Goes on even if the future is dropped.
    pub async fn commit(&self, txn: Txn) -> Result<Commit, EngineError> {
        Ok(self.submit(txn, None).await?)
    }

    /// `read_at` is what every check holds for, when they are all of one attempt.
    pub(crate) async fn submit(&self, txn: Txn, read_at: Option<Stamp>) -> Result<Commit, Refusal> {
        let size = caps::check(&txn).map_err(Refusal::Error)?;
        self.inner.backend.commit(txn, Submission { size, read_at, gives_back: self.gives_back }).await
    }

    /// What became of a recent transaction. Reaches back some ten thousand transactions, over restarts.
    pub async fn outcome(&self, id: TxnId) -> Result<Outcome, EngineError> {
        self.inner.backend.outcome(id).await
    }

    pub fn new_txn_id(&self) -> TxnId {
        TxnId(self.inner.random.u128())
    }

    /// The engine's clock: never backwards, not even over a restart.
    pub fn now(&self) -> Ticks {
        self.inner.backend.now()
    }

    /// The wall clock, moved along with the test clock.
    pub fn wall_now(&self) -> Ticks {
        self.inner.backend.wall_now()
    }

    /// The engine's clock without what tests moved it by: what is measured by this does not jump.
    pub fn steady_now(&self) -> Ticks {
        self.inner.backend.steady_now()
    }

    /// Moves both clocks forward, for tests.
    pub fn advance_clock(&self, by: Duration) {
        self.inner.backend.advance_clock(by);
    }

    /// Moves both clocks to so far from where they would be, unless they are farther.
    pub fn move_clock_to(&self, offset: Ticks) {
        self.inner.backend.move_clock_to(offset);
    }

    /// The same for what earlier runs were moved by, before anything is measured by these clocks.
    pub fn resume_clock(&self, offset: Ticks) {
        self.inner.backend.resume_clock(offset);
    }

    pub fn extents(&self) -> &Extents {
        self.inner.backend.extents()
    }

    /// Commits what waits, then stops; everything later is `Unavailable`. Again is harmless.
    pub async fn close(&self) -> Result<(), EngineError> {
        self.inner.backend.close().await
    }

    /// Transactions and groups committed (their ratio says how well commits share a sync), and how the disk and the memory do.
    pub fn stats(&self) -> EngineStats {
        self.inner.backend.stats()
    }

    /// Forgets which keys were deleted long ago, as the engine does by itself once in a while. Tells how many.
    #[cfg(feature = "postgres")]
    pub async fn forget_deletions(&self) -> Result<u64, EngineError> {
        match &self.inner.backend {
            Backend::Local(_) => Ok(0),
            Backend::Remote(remote) => remote.forget_deletions().await,
        }
    }

    /// Forgets the groups of transactions of more than an hour ago, as the engine does by itself once in a while.
    #[cfg(feature = "postgres")]
    pub async fn forget_groups(&self) -> Result<(), EngineError> {
        match &self.inner.backend {
            Backend::Local(_) => Ok(()),
            Backend::Remote(remote) => remote.forget_groups().await,
        }
    }

    /// Deletes objects of dead servers that nothing names, as the engine does by itself once in a while. Tells how many.
    #[cfg(feature = "objects")]
    pub async fn delete_orphans(&self) -> Result<u64, EngineError> {
        match &self.inner.backend {
            Backend::Local(_) => Ok(0),
            Backend::Remote(remote) => remote.delete_orphans().await,
        }
    }

    /// Says now that this server lives, as the engine does by itself every few seconds: for tests that move the clock.
    #[cfg(feature = "objects")]
    pub async fn beat_writer(&self) -> Result<(), EngineError> {
        match &self.inner.backend {
            Backend::Local(_) => Ok(()),
            Backend::Remote(remote) => remote.beat_writer().await,
        }
    }

    /// Why nothing can be read or committed just now, though it may be again.
    pub fn unready(&self) -> Option<&'static str> {
        self.inner.backend.unready()
    }

    /// Why the engine stopped for good, after a write to stable storage failed.
    pub fn is_stopped(&self) -> Option<&'static str> {
        self.inner.backend.stopped()
    }

    #[cfg(test)]
    pub(crate) fn published(&self) -> Arc<crate::local::Snapshot> {
        match &self.inner.backend {
            Backend::Local(local) => local.snapshot().0,
            #[cfg(feature = "postgres")]
            Backend::Remote(_) => panic!("not a local engine"),
        }
    }
}
