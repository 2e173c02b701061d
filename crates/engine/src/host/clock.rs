//! Wall time (may jump) and elapsed time (never does).

use crate::txn::Ticks;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug)]
pub enum Clock {
    Real,
    Manual(Arc<ManualClock>),
}

/// Both hands are moved by the test; the wall hand may be moved alone, also backwards.
#[derive(Debug)]
pub struct ManualClock {
    hands: Mutex<(Ticks, Duration)>,
}

impl Clock {
    /// Starts at 2026-01-01T00:00:00Z.
    pub fn manual() -> Self {
        let start = Ticks(1_767_225_600 * 10_000_000);
        Self::Manual(Arc::new(ManualClock { hands: Mutex::new((start, Duration::ZERO)) }))
    }

    pub fn wall(&self) -> Ticks {
        match self {
            Self::Real => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                ticks(since)
            }
            Self::Manual(clock) => clock.hands.lock().0,
        }
    }

    /// Time since some fixed moment of this process.
    pub fn elapsed(&self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        match self {
            Self::Real => START.get_or_init(Instant::now).elapsed(),
            Self::Manual(clock) => clock.hands.lock().1,
        }
    }
}

impl ManualClock {
    pub fn advance(&self, by: Duration) {
        let mut hands = self.hands.lock();
        hands.0 = Ticks(hands.0.0.saturating_add(ticks(by).0));
        hands.1 += by;
    }

    /// The wall clock jumps; no time passes.
    pub fn set_wall(&self, wall: Ticks) {
        self.hands.lock().0 = wall;
    }
}

pub(crate) fn ticks(duration: Duration) -> Ticks {
    Ticks(u64::try_from(duration.as_nanos() / 100).unwrap_or(u64::MAX))
}
