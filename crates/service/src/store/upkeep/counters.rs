//! What the sweeper could not give back, for the log and the metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::fault::Fault;

#[derive(Default)]
pub struct Counters {
    passed_over: AtomicU64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpkeepStats {
    /// Items that could not be given back when their turn came. One that goes on failing counts in every round.
    pub passed_over: u64,
}

impl Counters {
    pub(super) fn count_passed_over(&self) {
        self.passed_over.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn pass_over(&self, what: &'static str, fault: &Fault) {
        self.count_passed_over();
        tracing::warn!(what, code = ?fault.0.code, cause = ?fault.0.cause, "cannot be given back for now");
    }

    pub fn stats(&self) -> UpkeepStats {
        UpkeepStats { passed_over: self.passed_over.load(Ordering::Relaxed) }
    }
}
