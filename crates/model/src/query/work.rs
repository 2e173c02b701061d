//! What asking about one record may cost. A record is asked about without a pause, so its work has a bound of its own:
//! beyond that the query ends.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::value::Problem;

/// About the bytes that are looked at for one record: sixteen times the longest record.
pub const RECORD_WORK: usize = 64 * 1024 * 1024;
/// What an expression costs beside the text that it looks at.
pub(super) const STEP: usize = 16;

const TOO_MUCH: Problem = Problem {
    name: "QueryTooComplex",
    description: "To ask the query about one record takes more work than the server does for one.",
    is_fatal: true,
};
const STOPPED: Problem =
    Problem { name: "Stopped", description: "The client has left the query.", is_fatal: true };

/// Counts the work for a record, in bytes that are looked at, and knows whether anybody waits for its result.
#[derive(Debug, Default)]
pub struct Work {
    spent: Cell<usize>,
    stopped: Arc<AtomicBool>,
}

impl Work {
    /// Work that ends soon after the flag is set.
    pub fn until(stopped: Arc<AtomicBool>) -> Self {
        Self { spent: Cell::new(0), stopped }
    }

    /// Counts work that is about to be done.
    pub fn spend(&self, bytes: usize) -> Result<(), Problem> {
        let spent = self.spent.get().saturating_add(bytes);
        self.spent.set(spent);
        if spent > RECORD_WORK {
            return Err(TOO_MUCH);
        }
        if self.is_stopped() { Err(STOPPED) } else { Ok(()) }
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The work since the last time; the next record begins.
    pub fn take_spent(&self) -> usize {
        self.spent.take()
    }
}
