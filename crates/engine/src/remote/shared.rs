//! What the handles, the readers and the tasks of the engine share.

use super::barrier::Barrier;
use super::clock::RemoteClock;
use super::lanes::ReadLanes;
use super::pinned::Pool;
use super::primary::Primaries;
use super::queue::Queue;
use super::settings::Settings;
use super::stats::Counters;
use crate::contention::Contention;
use crate::extents::Extents;
use crate::host::Random;
use crate::outcomes::RecentOutcomes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) struct Shared {
    pub settings: Arc<Settings>,
    pub random: Random,
    pub clock: RemoteClock,
    pub primaries: Primaries,
    pub barrier: Barrier,
    /// Batches of keys are read through these.
    pub lanes: ReadLanes,
    /// Snapshots are held by these.
    pub pool: Pool,
    /// Transactions that wait for a lane, and those under way.
    pub queue: Queue,
    pub recent: Mutex<RecentOutcomes>,
    pub contention: Contention,
    pub extents: Extents,
    /// Under which name objects are written.
    #[cfg(feature = "objects")]
    pub writer: Option<super::writer::Writer>,
    #[cfg(feature = "objects")]
    pub reclaim: super::reclaim::Reclaim,
    pub counters: Counters,
    /// A task that the engine cannot do without has panicked.
    pub broken: Arc<AtomicBool>,
}

/// Held by each task that the engine cannot do without. When one panics, the engine says that it is stopped, so that the
/// server's process ends and its supervisor starts another. Otherwise requests would wait for a task that is gone, in a process
/// that says of itself that it is well.
pub(super) struct Guard(pub Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
            tracing::error!("a task of the engine failed; this process has to be started anew");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_is_noticed_and_one_that_ends_is_not() {
        let broken = Arc::new(AtomicBool::new(false));
        let guarded = |work: fn()| {
            let guard = Guard(broken.clone());
            tokio::spawn(async move {
                let _guard = guard;
                work();
            })
        };
        assert!(guarded(|| {}).await.is_ok() && !broken.load(Ordering::Relaxed));
        assert!(guarded(|| panic!("as a test wants it")).await.is_err() && broken.load(Ordering::Relaxed));
    }
}
