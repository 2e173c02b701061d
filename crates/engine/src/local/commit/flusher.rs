//! Bytes before rows: transactions with new chunks wait here until those are durable, and only then in the line of the
//! committer. So a commit without bytes does not wait for large bodies.
//!
//! A thread takes all that wait, syncs each file once, and hands them to the committer together: however many they are,
//! one thread is woken for them (decision 0038).

use crate::error::{EngineError, Refusal};
use crate::local::commit::committer::SYNC_FAILED;
use crate::local::commit::notify::deliver;
use crate::local::commit::pending::{PendingCommit, PendingCommits};
use crate::local::shared::Shared;
use crate::txn::ChunkId;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread::JoinHandle;

/// While one syncs, what comes meanwhile is synced by the other: a disk does more when it is asked for two.
const THREADS: usize = 2;
/// Beyond these, a transaction is turned away at once.
const WAITING: usize = 16_384;

pub(crate) struct Flusher {
    line: Arc<Line>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Line {
    shared: Arc<Shared>,
    pending: Arc<PendingCommits>,
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Default)]
struct State {
    jobs: Vec<PendingCommit>,
    ended: bool,
}

impl Flusher {
    pub fn start(shared: Arc<Shared>, pending: Arc<PendingCommits>) -> Self {
        let line = Arc::new(Line { shared, pending, state: Mutex::default(), ready: Condvar::new() });
        // Where there is no file, there is nothing to wait for.
        let wanted = if line.shared.extents.space().is_some() { THREADS } else { 0 };
        let start = |_| {
            let line = line.clone();
            std::thread::Builder::new().name("flusher".into()).spawn(move || line.work()).ok()
        };
        let threads: Vec<_> = (0..wanted).map_while(start).collect();
        if threads.is_empty() && wanted > 0 {
            line.shared.stop("no thread for the flusher");
        }
        Self { line, threads: Mutex::new(threads) }
    }

    /// Takes a transaction on its way to the committer.
    pub fn push(&self, job: PendingCommit) -> Result<(), Refusal> {
        if job.txn.publish.is_empty() || self.line.shared.extents.is_durable(&job.txn.publish) {
            return self.line.pending.push(job);
        }
        let mut state = self.line.state.lock();
        if state.ended {
            return Err(Refusal::Error(EngineError::Unavailable("shutting down")));
        }
        if state.jobs.len() >= WAITING {
            return Err(Refusal::Error(EngineError::Unavailable("overloaded")));
        }
        state.jobs.push(job);
        let first = state.jobs.len() == 1;
        drop(state);
        // The thread that takes the first takes those that come until then.
        if first {
            self.line.ready.notify_one();
        }
        Ok(())
    }

    /// What waits is handed to the committer first, which must still be running.
    pub fn stop(&self) {
        self.line.state.lock().ended = true;
        self.line.ready.notify_all();
        for thread in self.threads.lock().drain(..) {
            let _ = thread.join();
        }
    }
}

impl Line {
    fn work(&self) {
        let _guard = StopOnPanic(self);
        while let Some(jobs) = self.take() {
            let chunks: Vec<ChunkId> = jobs.iter().flat_map(|job| job.txn.publish.iter().copied()).collect();
            match self.shared.extents.sync(&chunks) {
                Ok(()) => self.pending.push_all(jobs),
                Err(error) => {
                    tracing::error!(%error, "sync of an extent failed; the engine stops");
                    self.shared.stop(SYNC_FAILED);
                    let refused = || Err(Refusal::Error(EngineError::Unavailable(SYNC_FAILED)));
                    deliver(jobs.into_iter().map(|job| (job.reply, refused())));
                }
            }
        }
    }

    /// All that wait; `None` at the end.
    fn take(&self) -> Option<Vec<PendingCommit>> {
        let mut state = self.state.lock();
        while state.jobs.is_empty() {
            if state.ended {
                return None;
            }
            self.ready.wait(&mut state);
        }
        Some(std::mem::take(&mut state.jobs))
    }
}

struct StopOnPanic<'a>(&'a Line);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.shared.stop("a thread of the engine failed");
            let mut state = self.0.state.lock();
            state.ended = true;
            // Their callers learn that the outcome is unknown.
            state.jobs.clear();
        }
    }
}
