//! Figures about an engine, for those who watch it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Since the directory was made.
    pub transactions: u64,
    /// Since the engine was opened.
    pub groups: u64,
    /// Rows read aside since the engine was opened, because the disk might have been needed.
    pub reads_aside: u64,
    pub syncs: SyncStats,
    pub row_cache: RowCacheStats,
    /// Bytes that the disk has left for the engine; `None` when there is no disk.
    pub available_bytes: Option<u64>,
    /// Of an engine behind a network.
    pub remote: Option<RemoteStats>,
    /// Of chunks that are kept as objects.
    pub objects: Option<ObjectStats>,
}

/// Of this process since it was connected, unless it is how things are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectStats {
    /// Requests that succeeded, and how long they took.
    pub puts: SyncStats,
    pub put_bytes: u64,
    pub put_failures: u64,
    pub gets: SyncStats,
    pub get_bytes: u64,
    pub get_failures: u64,
    pub deleted: u64,
    pub delete_failures: u64,
    /// Objects that the search for orphans deleted.
    pub orphans: u64,
    /// Whole chunks in memory.
    pub cache_bytes: u64,
    pub cache_hits: u64,
    pub cache_misses: u64,
    /// Chunks whose writing is under way.
    pub writing_bytes: u64,
}

/// Of this process since it was connected, unless it is how things are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteStats {
    /// A primary is proven.
    pub proven: bool,
    /// How many primaries there have been.
    pub generation: u64,
    /// Transactions that wait for a lane.
    pub waiting: u64,
    /// Transactions that were refused because of another one's commit.
    pub refused: u64,
    /// Groups that were tried again, because others were in the way.
    pub again: u64,
    /// Groups whose outcome had to be asked for after a connection was lost.
    pub resolved: u64,
    /// Batches of keys that were read outside a held snapshot.
    pub batches: u64,
    /// Statements that read these: what is asked for at a time goes together.
    pub statements: u64,
    /// Attempts that began again because what they read was not of one snapshot.
    pub torn: u64,
    /// Snapshots that were held by a connection.
    pub snapshots: u64,
    pub snapshots_held: u64,
    /// Commits that were made for those who read.
    pub barriers: u64,
    /// Times that the database's clock stepped ahead.
    pub clock_jumps: u64,
}

/// How long it took to make groups durable, since the engine was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncStats {
    /// Syncs that took no longer than the bound of the same place, and longer than the bound before it; the last counts
    /// all that took longer than every bound.
    pub counts: [u64; SyncStats::BOUNDS_MICROS.len() + 1],
    pub total: Duration,
}

impl SyncStats {
    pub const BOUNDS_MICROS: [u64; 11] =
        [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000];
}

/// Single rows that were asked for, and found in memory or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCacheStats {
    pub hits: u64,
    pub misses: u64,
    pub bytes: u64,
}

/// The committer counts, the metrics read.
#[derive(Default)]
pub(crate) struct SyncTimes {
    counts: [AtomicU64; SyncStats::BOUNDS_MICROS.len() + 1],
    nanos: AtomicU64,
}

impl SyncTimes {
    pub fn took(&self, time: Duration) {
        let bound = SyncStats::BOUNDS_MICROS.partition_point(|bound| Duration::from_micros(*bound) < time);
        if let Some(count) = self.counts.get(bound) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.nanos.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub fn stats(&self) -> SyncStats {
        SyncStats {
            counts: self.counts.each_ref().map(|count| count.load(Ordering::Relaxed)),
            total: Duration::from_nanos(self.nanos.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sync_is_counted_below_the_first_bound_that_it_keeps() {
        let times = SyncTimes::default();
        for micros in [1, 50, 51, 1_000_000, 1_000_001] {
            times.took(Duration::from_micros(micros));
        }
        let stats = times.stats();
        assert_eq!(stats.counts, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(stats.total, Duration::from_micros(2_000_103));
    }
}
