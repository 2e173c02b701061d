//! What became of events, for the metrics; and the bell that wakes the deliverers.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// Of one server.
#[derive(Default)]
pub struct Desk {
    bell: watch::Sender<u64>,
    delivered: AtomicU64,
    failed: AtomicU64,
    given_up: AtomicU64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventStats {
    pub delivered: u64,
    /// Tries that failed.
    pub failed: u64,
    /// Events that are not tried again.
    pub given_up: u64,
}

impl Desk {
    /// Events were raised.
    pub fn ring(&self) {
        self.bell.send_modify(|rung| *rung = rung.wrapping_add(1));
    }

    pub fn listen(&self) -> watch::Receiver<u64> {
        self.bell.subscribe()
    }

    pub fn count(&self, outcome: EventStats) {
        self.delivered.fetch_add(outcome.delivered, Ordering::Relaxed);
        self.failed.fetch_add(outcome.failed, Ordering::Relaxed);
        self.given_up.fetch_add(outcome.given_up, Ordering::Relaxed);
    }

    pub fn stats(&self) -> EventStats {
        EventStats {
            delivered: self.delivered.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            given_up: self.given_up.load(Ordering::Relaxed),
        }
    }
}
