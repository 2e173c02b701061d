//! The engine's clock: that of the database, seen from here.
//!
//! The database tells the time with every answer, and never less than this server has seen: see `sql/now_1.sql`. So the
//! time of a server never goes back, and goes on when the database's clock is set back or a standby with a slower one
//! takes over; all servers are told the same time then, see `schema::raise_clock`. What is sent as seen grows a little
//! slower than time: a machine whose own clock is fast cannot drive the clock of all servers ahead of the database's, and
//! one that was driven ahead is caught up with. While the database is behind, an answer is no more than what was sent, and
//! is not noted: so the time of a busy server goes on at the same pace as that of an idle one.

use crate::host::{Clock, clock_ticks as ticks};
use crate::local::EngineClock;
use crate::txn::Ticks;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A step of the database's clock by more than this against our own is worth a word.
const JUMP: u64 = 2 * 10_000_000;
/// The database's clock is behind when no answer has told anything new for so long.
const BEHIND: Duration = Duration::from_secs(1);

pub(crate) enum RemoteClock {
    Database(Box<DatabaseClock>),
    /// A test's clock, which the database is told.
    Fixed(EngineClock),
}

pub(crate) struct DatabaseClock {
    host: Clock,
    /// The latest moment that earlier runs, here or elsewhere, are known to have handed out when this one began.
    persisted: Ticks,
    seen: Mutex<Seen>,
    /// What was handed out last.
    handed: AtomicU64,
    /// How far a test moved the clock.
    offset: Arc<AtomicU64>,
    jumps: AtomicU64,
}

/// The last moment that the database told, without what a test moved it by, and our own time then.
#[derive(Clone, Copy)]
struct Seen {
    told: u64,
    at: Duration,
    /// For a second, no answer of the database has told a later time than this server's floor.
    is_behind: bool,
    /// What the database's clock itself said at first.
    first: (u64, Duration),
}

impl RemoteClock {
    /// `told` is what the database's clock says; `persisted` is the latest moment that it knows to have been handed out.
    /// Where a test moves several clocks together, `offset` is theirs.
    pub fn new(host: Clock, told: Ticks, persisted: Ticks, offset: Option<Arc<AtomicU64>>) -> Self {
        match host {
            Clock::Manual(_) => {
                let clock = EngineClock::new(host, persisted);
                Self::Fixed(match offset {
                    Some(offset) => clock.with_offset(offset),
                    None => clock,
                })
            }
            Clock::Real => {
                let at = host.elapsed();
                let seen = Seen {
                    told: told.max(persisted).0,
                    at,
                    is_behind: told < persisted,
                    first: (told.0, at),
                };
                Self::Database(Box::new(DatabaseClock {
                    host,
                    persisted,
                    seen: Mutex::new(seen),
                    handed: AtomicU64::new(0),
                    offset: offset.unwrap_or_default(),
                    jumps: AtomicU64::new(0),
                }))
            }
        }
    }

    pub fn shared_offset(&self) -> Arc<AtomicU64> {
        match self {
            Self::Fixed(clock) => clock.shared_offset(),
            Self::Database(clock) => clock.offset.clone(),
        }
    }

    pub fn now(&self) -> Ticks {
        Ticks(self.steady().0 + self.offset().0)
    }

    /// Without what a test moved it by: what is measured by this does not jump.
    pub fn steady(&self) -> Ticks {
        match self {
            Self::Fixed(clock) => clock.steady(),
            Self::Database(clock) => clock.steady(),
        }
    }

    pub fn wall(&self) -> Ticks {
        match self {
            Self::Fixed(clock) => clock.wall(),
            Self::Database(clock) => Ticks(clock.host.wall().0 + self.offset().0),
        }
    }

    pub fn offset(&self) -> Ticks {
        match self {
            Self::Fixed(clock) => Ticks(clock.now().0 - clock.steady().0),
            Self::Database(clock) => Ticks(clock.offset.load(Ordering::Relaxed)),
        }
    }

    pub fn advance(&self, by: Duration) {
        match self {
            Self::Fixed(clock) => clock.advance(by),
            Self::Database(clock) => drop(clock.offset.fetch_add(ticks(by).0, Ordering::Relaxed)),
        }
    }

    pub fn move_to(&self, offset: Ticks) {
        match self {
            Self::Fixed(clock) => clock.move_to(offset),
            Self::Database(clock) => drop(clock.offset.fetch_max(offset.0, Ordering::Relaxed)),
        }
    }

    pub fn resume(&self, offset: Ticks) {
        match self {
            Self::Fixed(clock) => clock.resume(offset),
            Self::Database(clock) => clock.resume(offset),
        }
    }

    /// What the database is told with every call: whether it is to take our word for the time, and what we have seen.
    pub fn sent(&self) -> (bool, i64) {
        let (fixed, seen) = match self {
            Self::Fixed(clock) => (true, clock.steady().0),
            Self::Database(clock) => (false, clock.floor()),
        };
        (fixed, i64::try_from(seen).unwrap_or(i64::MAX))
    }

    /// What the database answered.
    pub fn told(&self, now: i64) -> Ticks {
        let now = u64::try_from(now).unwrap_or_default();
        if let Self::Database(clock) = self {
            clock.told(now);
        }
        Ticks(now)
    }

    /// The same, moved along with the test clock.
    pub fn moved(&self, steady: Ticks) -> Ticks {
        Ticks(steady.0 + self.offset().0)
    }

    /// Whether the database's clock is behind what this server has seen.
    pub fn is_behind(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Database(clock) => clock.seen.lock().is_behind,
        }
    }

    /// How often the database's clock stepped ahead.
    pub fn jumps(&self) -> u64 {
        match self {
            Self::Fixed(_) => 0,
            Self::Database(clock) => clock.jumps.load(Ordering::Relaxed),
        }
    }
}

impl Seen {
    fn estimate(&self, elapsed: Duration) -> u64 {
        self.told + ticks(elapsed.saturating_sub(self.at)).0
    }

    /// What is certainly not ahead of all clocks.
    fn floor(&self, elapsed: Duration) -> u64 {
        self.told + ticks(elapsed.saturating_sub(self.at)).0 / 8 * 7
    }
}

impl DatabaseClock {
    fn steady(&self) -> Ticks {
        let seen = *self.seen.lock();
        let elapsed = self.host.elapsed();
        let now = if seen.is_behind { seen.floor(elapsed) } else { seen.estimate(elapsed) };
        Ticks(self.handed.fetch_max(now, Ordering::Relaxed).max(now))
    }

    fn floor(&self) -> u64 {
        let seen = *self.seen.lock();
        seen.floor(self.host.elapsed())
    }

    fn told(&self, now: u64) {
        let at = self.host.elapsed();
        let mut seen = self.seen.lock();
        let expected = seen.estimate(at);
        if now > expected + JUMP {
            self.jumps.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(seconds = (now - expected) / 10_000_000, "the database's clock stepped ahead");
        }
        // Answers may overtake each other, or take longer on their way than others: one that tells nothing new says nothing of the
        // database's clock, and a second of them does.
        if now > seen.floor(at) {
            (seen.told, seen.at, seen.is_behind) = (now, at, false);
        } else {
            seen.is_behind = at.saturating_sub(seen.at) >= BEHIND;
        }
    }

    fn resume(&self, offset: Ticks) {
        if self.offset.compare_exchange(0, offset.0, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let unmoved = self.persisted.0.saturating_sub(offset.0);
            let at = self.host.elapsed();
            let mut seen = self.seen.lock();
            let (first, then) = seen.first;
            seen.told = (first + ticks(at.saturating_sub(then)).0).max(unmoved);
            seen.at = at;
            self.handed.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 10_000_000;

    fn database(told: u64, persisted: u64) -> RemoteClock {
        RemoteClock::new(Clock::Real, Ticks(told), Ticks(persisted), None)
    }

    #[test]
    fn time_never_goes_back_and_goes_on_slower_when_the_database_is_behind() {
        let clock = database(100 * SECOND, 0);
        assert_eq!(clock.told((200 * SECOND) as i64), Ticks(200 * SECOND));
        assert_eq!(clock.jumps(), 1);
        clock.told((150 * SECOND) as i64);
        std::thread::sleep(Duration::from_millis(20));
        let (fixed, sent) = clock.sent();
        assert!(!fixed && sent as u64 > 200 * SECOND);
        assert!((sent as u64) < clock.now().0);
        assert!(clock.now() <= clock.now());
    }

    #[test]
    fn while_the_database_is_behind_a_busy_server_is_not_slower_than_an_idle_one() {
        let (busy, idle) = (database(100 * SECOND, 0), database(100 * SECOND, 0));
        for _ in 0..250 {
            let (_, sent) = busy.sent();
            std::thread::sleep(Duration::from_millis(5));
            // The database has nothing better to tell.
            busy.told(sent);
        }
        assert!(busy.is_behind() && !idle.is_behind());
        let (busy, idle) = (busy.sent().1, idle.sent().1);
        assert!(busy.abs_diff(idle) < SECOND / 100, "{busy} {idle}");
        assert!(busy.unsigned_abs() >= 101 * SECOND);
    }

    #[test]
    fn what_was_handed_out_before_is_where_it_begins() {
        assert!(database(5 * SECOND, 9 * SECOND).now() >= Ticks(9 * SECOND));
        let moved = database(5 * SECOND, 3_605 * SECOND);
        moved.resume(Ticks(3_600 * SECOND));
        assert!(moved.steady() >= Ticks(5 * SECOND) && moved.steady() < Ticks(60 * SECOND));
        assert!(moved.now() >= Ticks(3_605 * SECOND));
    }
}
