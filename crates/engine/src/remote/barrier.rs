//! Strict reads: what was read is still the newest, because a commit that began after the reading succeeded on the same
//! node. One such commit serves all who wait, and any group of this server that began later is one.

use super::connection::Connection;
use super::fault::Fault;
use super::primary::PATIENCE;
use super::shared::Shared;
use crate::error::EngineError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

pub(super) struct Barrier {
    /// The number of the next who waits.
    next: AtomicU64,
    passed: watch::Sender<Passed>,
    wanted: Notify,
    commits: AtomicU64,
}

/// All with a lower number whose reading was of this generation have what they waited for.
#[derive(Clone, Copy, Default)]
struct Passed {
    generation: u64,
    below: u64,
}

/// A commit that is about to begin; those who wait by now may rely on it.
#[derive(Clone, Copy)]
pub(super) struct Mark(u64);

impl Default for Barrier {
    fn default() -> Self {
        Self {
            next: AtomicU64::new(0),
            passed: watch::Sender::new(Passed::default()),
            wanted: Notify::new(),
            commits: AtomicU64::new(0),
        }
    }
}

impl Barrier {
    /// Before a commit is sent.
    pub fn mark(&self) -> Mark {
        Mark(self.next.load(Ordering::SeqCst))
    }

    /// The commit succeeded, on a connection of this generation.
    pub fn pass(&self, mark: Mark, generation: u64) {
        self.passed.send_if_modified(|passed| {
            let news =
                generation > passed.generation || (generation == passed.generation && mark.0 > passed.below);
            if news {
                *passed = Passed { generation, below: mark.0 };
            }
            news
        });
    }

    /// Returns when a commit that began after this was called has succeeded on the node that was read from.
    pub async fn wait(&self, generation: u64) -> Result<(), EngineError> {
        let mut passed = self.passed.subscribe();
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        self.wanted.notify_one();
        let enough = |passed: &Passed| passed.generation > generation || passed.below > number;
        match timeout(PATIENCE, passed.wait_for(enough)).await {
            Ok(Ok(passed)) if passed.generation == generation => Ok(()),
            Ok(_) => Err(EngineError::Unavailable("the primary changed")),
            Err(_) => Err(EngineError::Unavailable("the primary does not commit")),
        }
    }

    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Commits for those who wait. Ends when it is dropped.
    pub async fn serve(shared: Arc<Shared>) {
        let barrier = &shared.barrier;
        let mut connection = None;
        loop {
            barrier.wanted.notified().await;
            // A commit of a lane may have served them.
            while barrier.passed.borrow().below < barrier.next.load(Ordering::SeqCst) {
                if let Err(fault) = shared.commit_for_barrier(&mut connection).await {
                    tracing::debug!(%fault, "no commit for those who read");
                    connection = None;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
}

impl Shared {
    async fn commit_for_barrier(&self, held: &mut Option<Connection>) -> Result<(), Fault> {
        self.primaries.renew(held, Instant::now() + PATIENCE).await?;
        let Some(connection) = held else { return Err(Fault::lost("no connection")) };
        let mark = self.barrier.mark();
        let commit = connection.in_time(Instant::now() + PATIENCE, connection.prove());
        tokio::select! {
            done = commit => {
                if let Err(fault) = done {
                    self.primaries.suspect(connection.generation);
                    return Err(fault);
                }
            }
            () = self.primaries.succeeded(connection.generation) => {
                return Err(Fault::lost("another primary"));
            }
        }
        self.barrier.commits.fetch_add(1, Ordering::Relaxed);
        self.primaries.committed();
        self.barrier.pass(mark, connection.generation);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::JoinSet;

    const READERS: u64 = 100;

    /// Readers of this generation that wait.
    async fn waiting(barrier: &Arc<Barrier>, generation: u64) -> JoinSet<Result<(), EngineError>> {
        let before = barrier.next.load(Ordering::SeqCst);
        let mut readers = JoinSet::new();
        for _ in 0..READERS {
            let barrier = barrier.clone();
            readers.spawn(async move { barrier.wait(generation).await });
        }
        while barrier.next.load(Ordering::SeqCst) < before + READERS {
            tokio::task::yield_now().await;
        }
        readers
    }

    #[tokio::test(start_paused = true)]
    async fn one_commit_serves_all_who_waited_when_it_began_and_no_later_ones() {
        let barrier = Arc::new(Barrier::default());
        let early = barrier.mark();
        let first = waiting(&barrier, 1).await;
        let mark = barrier.mark();
        // It began before they read.
        barrier.pass(early, 1);
        let mut second = waiting(&barrier, 1).await;
        barrier.pass(mark, 1);
        assert!(first.join_all().await.iter().all(Result::is_ok));
        tokio::task::yield_now().await;
        assert!(second.try_join_next().is_none(), "they came after it had begun");
        // On another node it says nothing about what they read.
        barrier.pass(barrier.mark(), 2);
        assert!(second.join_all().await.iter().all(Result::is_err));
    }
}
