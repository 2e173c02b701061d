//! The engine's clock: it never goes backwards, neither when the wall clock jumps nor over a restart.

use crate::host::{Clock, clock_ticks as ticks};
use crate::txn::Ticks;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time is read off the wall once, at start, and grows from there with elapsed time only.
#[derive(Debug)]
pub(crate) struct EngineClock {
    host: Clock,
    base: Ticks,
    start: Duration,
    /// How far a test moved the clock.
    offset: AtomicU64,
}

impl EngineClock {
    /// `persisted`: the latest moment that any earlier run is known to have handed out.
    pub fn new(host: Clock, persisted: Ticks) -> Self {
        let base = host.wall().max(persisted);
        let start = host.elapsed();
        Self { host, base, start, offset: AtomicU64::new(0) }
    }

    pub fn now(&self) -> Ticks {
        let elapsed = ticks(self.host.elapsed().saturating_sub(self.start));
        Ticks(self.base.0 + elapsed.0 + self.offset.load(Ordering::Relaxed))
    }

    pub fn wall(&self) -> Ticks {
        Ticks(self.host.wall().0 + self.offset.load(Ordering::Relaxed))
    }

    pub fn advance(&self, by: Duration) {
        self.offset.fetch_add(ticks(by).0, Ordering::Relaxed);
    }
}
