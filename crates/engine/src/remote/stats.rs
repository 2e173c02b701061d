//! What is counted for those who watch the engine.

use super::shared::Shared;
#[cfg(feature = "objects")]
use crate::stats::ObjectStats;
use crate::stats::{EngineStats, RemoteStats, SyncTimes};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Default)]
pub(super) struct Counters {
    pub transactions: AtomicU64,
    pub groups: AtomicU64,
    /// How long groups took, from sending to the answer.
    pub times: SyncTimes,
    pub refused: AtomicU64,
    /// Groups that were tried again or cut in two.
    pub again: AtomicU64,
    /// Groups whose outcome had to be asked for.
    pub resolved: AtomicU64,
    pub batches: AtomicU64,
    /// Statements that read them.
    pub statements: AtomicU64,
    pub torn: AtomicU64,
    pub snapshots: AtomicU64,
}

impl Shared {
    pub fn stats(&self) -> EngineStats {
        let counters = &self.counters;
        EngineStats {
            transactions: counters.transactions.load(Relaxed),
            groups: counters.groups.load(Relaxed),
            syncs: counters.times.stats(),
            remote: Some(RemoteStats {
                proven: self.primaries.current().is_some(),
                generation: self.primaries.latest_generation(),
                waiting: self.queue.len() as u64,
                refused: counters.refused.load(Relaxed),
                again: counters.again.load(Relaxed),
                resolved: counters.resolved.load(Relaxed),
                batches: counters.batches.load(Relaxed),
                statements: counters.statements.load(Relaxed),
                torn: counters.torn.load(Relaxed),
                snapshots: counters.snapshots.load(Relaxed),
                snapshots_held: self.pool.held() as u64,
                barriers: self.barrier.commits(),
                clock_jumps: self.clock.jumps(),
            }),
            #[cfg(feature = "objects")]
            objects: self.extents.as_objects().map(|objects| ObjectStats {
                orphans: self.reclaim.orphans.load(Relaxed),
                ..objects.object_stats()
            }),
            ..EngineStats::default()
        }
    }
}
