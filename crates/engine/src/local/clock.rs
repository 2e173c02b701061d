//! The engine's clock: it never goes backwards, neither when the wall clock jumps nor over a restart.

use crate::host::{Clock, clock_ticks as ticks};
use crate::txn::Ticks;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time is read off the wall once, at start, and grows from there with elapsed time only.
#[derive(Debug)]
pub(crate) struct EngineClock {
    host: Clock,
    /// The wall when this run began.
    wall: Ticks,
    persisted: Ticks,
    /// Where this run began.
    base: AtomicU64,
    start: Duration,
    /// How far a test moved the clock.
    offset: Arc<AtomicU64>,
}

impl EngineClock {
    /// `persisted`: the latest moment that any earlier run is known to have handed out.
    pub fn new(host: Clock, persisted: Ticks) -> Self {
        let wall = host.wall();
        let base = AtomicU64::new(wall.max(persisted).0);
        let start = host.elapsed();
        Self { host, wall, persisted, base, start, offset: Arc::default() }
    }

    /// A test moves this one together with another.
    #[cfg(feature = "postgres")]
    pub fn with_offset(self, offset: Arc<AtomicU64>) -> Self {
        Self { offset, ..self }
    }

    #[cfg(feature = "postgres")]
    pub fn shared_offset(&self) -> Arc<AtomicU64> {
        self.offset.clone()
    }

    pub fn now(&self) -> Ticks {
        Ticks(self.steady().0 + self.offset.load(Ordering::Relaxed))
    }

    /// Without what a test moved it by: what is measured by this does not jump.
    pub fn steady(&self) -> Ticks {
        let elapsed = ticks(self.host.elapsed().saturating_sub(self.start));
        Ticks(self.base.load(Ordering::Relaxed) + elapsed.0)
    }

    pub fn wall(&self) -> Ticks {
        Ticks(self.host.wall().0 + self.offset.load(Ordering::Relaxed))
    }

    pub fn advance(&self, by: Duration) {
        self.offset.fetch_add(ticks(by).0, Ordering::Relaxed);
    }

    /// A test, here or through another server, has moved it so far by now.
    pub fn move_to(&self, offset: Ticks) {
        self.offset.fetch_max(offset.0, Ordering::Relaxed);
    }

    /// Earlier runs were moved so far, and the persisted moment was handed out by a clock that was. To be told before
    /// anything is measured by this one.
    pub fn resume(&self, offset: Ticks) {
        if self.offset.compare_exchange(0, offset.0, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let unmoved = Ticks(self.persisted.0.saturating_sub(offset.0));
            self.base.store(self.wall.max(unmoved).0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600 * 10_000_000;

    /// The persisted moment was handed out by a clock that a test had moved: it is not moved by as much again.
    #[test]
    fn a_moved_clock_is_resumed_where_it_was() {
        let host = Clock::manual();
        let Clock::Manual(hands) = &host else { panic!("a test's clock") };
        let before = EngineClock::new(host.clone(), Ticks(0));
        before.move_to(Ticks(5 * HOUR));
        before.move_to(Ticks(2 * HOUR));
        let (last, steady) = (before.now(), before.steady());
        assert_eq!(last, Ticks(steady.0 + 5 * HOUR), "forward only");
        let after = EngineClock::new(host.clone(), last);
        after.resume(Ticks(5 * HOUR));
        assert_eq!((after.now(), after.steady(), after.wall()), (last, steady, last));
        // Another server over the same engine resumes it as well.
        after.move_to(Ticks(6 * HOUR));
        after.resume(Ticks(6 * HOUR));
        assert_eq!((after.now(), after.steady()), (Ticks(last.0 + HOUR), steady));
        // A wall that was set back does not take the clock with it.
        hands.set_wall(Ticks(1));
        let behind = EngineClock::new(host.clone(), last);
        behind.resume(Ticks(5 * HOUR));
        assert_eq!(behind.now(), last);
    }
}
