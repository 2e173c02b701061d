//! How much of the disk is left, and for whom.
//!
//! fjall stops for good when it cannot write its log, or a table of what is in memory. So room is kept for both, and for
//! the largest merge to come, which gives back what was deleted; how much that is follows from what is there. A commit
//! that makes the store grow leaves a reserve besides, in which those that give back are still written down.

use crate::host::disk::Dir;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the disk is asked.
const POLL: Duration = Duration::from_millis(50);
/// What the log may grow by before the disk is asked again.
const SLACK: u64 = 4 << 20;

/// What the store itself must still be able to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// What is in memory, and becomes tables.
    pub flush: u64,
    /// True when a memtable is sealed or nearly full. Otherwise a delete needs room in the log only, even if files of
    /// other programs took the rest.
    pub flushes_soon: bool,
    /// The largest merge to come.
    pub merge: u64,
    /// The merge that is under way.
    pub merging: Option<Merge>,
}

/// A merge takes of what was kept for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merge {
    /// What it writes at most.
    pub bytes: u64,
    /// What was available when it began.
    pub available: u64,
}

pub(crate) type AskNeeds = Arc<dyn Fn() -> Needs + Send + Sync>;

pub(crate) struct Space {
    dir: Dir,
    reserve: u64,
    needs: AskNeeds,
    seen: Mutex<Option<(Instant, Seen)>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub available: u64,
    pub needs: Needs,
    reserve: u64,
}

impl Space {
    pub fn new(dir: Dir, reserve: u64, needs: AskNeeds) -> Self {
        Self { dir, reserve, needs, seen: Mutex::default() }
    }

    /// For a store that needs nothing of the disk for itself.
    #[cfg(test)]
    pub fn plain(dir: Dir, reserve: u64) -> Arc<Self> {
        Arc::new(Self::new(dir, reserve, Arc::new(Needs::default)))
    }

    /// As of a moment ago.
    pub fn seen(&self) -> Seen {
        let seen = *self.seen.lock();
        match seen {
            Some((at, seen)) if at.elapsed() <= POLL => seen,
            _ => self.look(),
        }
    }

    /// As of now. A disk that cannot be asked is taken for a large one: the write itself will tell.
    pub fn look(&self) -> Seen {
        let available = self.dir.available().unwrap_or(u64::MAX);
        let seen = Seen { available, needs: (self.needs)(), reserve: self.reserve };
        *self.seen.lock() = Some((Instant::now(), seen));
        seen
    }
}

impl Seen {
    /// Only commits that give something back are taken.
    pub fn is_low(&self) -> bool {
        self.available < self.kept(false)
    }

    /// No commit is taken: to try would stop the engine for good, to wait does not. A merge can wait as well.
    pub fn is_full(&self) -> bool {
        let flush = if self.needs.flushes_soon { self.needs.flush } else { 0 };
        self.available < self.slack().saturating_add(flush)
    }

    /// What a new extent leaves alone. The collector may use up half of the reserve: it is about to give back more.
    pub fn kept(&self, collector: bool) -> u64 {
        let reserve = self.reserve / if collector { 2 } else { 1 };
        reserve.saturating_add(self.needs.flush).saturating_add(self.merge())
    }

    /// What is still to be written by the merge under way, or by the next.
    fn merge(&self) -> u64 {
        match self.needs.merging {
            None => self.needs.merge,
            Some(merge) => merge.bytes.saturating_sub(merge.available.saturating_sub(self.available)),
        }
    }

    /// Whether tables of so many bytes can be written, and what is in memory as well.
    pub fn has_room_for(&self, bytes: u64) -> bool {
        self.available >= self.slack().saturating_add(self.needs.flush).saturating_add(bytes)
    }

    fn slack(&self) -> u64 {
        (self.reserve / 16).min(SLACK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn seen(available: u64, flush: u64, merge: u64) -> Seen {
        let needs = Needs { flush: flush * MIB, flushes_soon: true, merge: merge * MIB, merging: None };
        Seen { available: available * MIB, needs, reserve: 64 * MIB }
    }

    #[test]
    fn what_flushes_and_merges_need_is_kept_from_what_grows() {
        assert!(!seen(64, 0, 0).is_low());
        assert!(seen(63, 0, 0).is_low());
        assert!(seen(113, 30, 20).is_low());
        assert!(!seen(114, 30, 20).is_low());
    }

    #[test]
    fn what_flushes_need_is_kept_from_deletes_as_well() {
        assert!(!seen(34, 30, 20).is_full());
        assert!(seen(33, 30, 20).is_full());
        let mut later = seen(4, 30, 20);
        later.needs.flushes_soon = false;
        assert!(!later.is_full(), "there is room in the log");
        assert!(!later.has_room_for(0), "and none to write out what is in memory");
        assert!(seen(53, 30, 20).has_room_for(19 * MIB));
        assert!(!seen(53, 30, 20).has_room_for(20 * MIB), "a merge waits");
    }

    #[test]
    fn a_merge_under_way_takes_of_its_own_room() {
        let mut during = seen(104, 30, 20);
        assert!(during.is_low());
        during.needs.merging = Some(Merge { bytes: 20 * MIB, available: 114 * MIB });
        assert!(!during.is_low(), "half of it is written");
        during.available -= MIB;
        during.needs.merging = Some(Merge { bytes: 20 * MIB, available: 113 * MIB });
        assert!(during.is_low());
    }

    #[test]
    fn no_reserve_keeps_nothing_back() {
        let all = Seen { available: 0, needs: Needs::default(), reserve: 0 };
        assert!(!all.is_low() && !all.is_full());
    }
}
