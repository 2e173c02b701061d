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
