//! How fast a client takes its answer, measured over the time that the server waits for it. What the server itself
//! needs to find the next bytes does not count.

use std::time::{Duration, Instant};

use super::cuts::Reason;
use super::limits::{RATE_WINDOW, WRITE_PATIENCE};

#[derive(Debug)]
pub struct TakingRate {
    /// What the client must have taken by the end of a window.
    least: u64,
    /// Taken in this window.
    taken: u64,
    /// Waited in this window, the present wait aside.
    waited: Duration,
    wait: Option<Wait>,
}

/// The client takes nothing at the moment.
#[derive(Clone, Copy, Debug)]
struct Wait {
    since: Instant,
    /// From here on it counts for this window.
    counted_from: Instant,
}

impl TakingRate {
    /// `rate` in bytes a second; zero sets no limit but that something is taken now and then.
    pub fn new(rate: u64) -> Self {
        let least = rate.saturating_mul(RATE_WINDOW.as_secs());
        Self { least, taken: 0, waited: Duration::ZERO, wait: None }
    }

    pub fn took(&mut self, bytes: usize, now: Instant) {
        if let Some(wait) = self.wait.take() {
            self.waited += now.saturating_duration_since(wait.counted_from);
        }
        self.taken = self.taken.saturating_add(bytes as u64);
    }

    /// The client takes nothing at the moment. How long it may go on so, or why not any longer.
    pub fn waits(&mut self, now: Instant) -> Result<Instant, Reason> {
        let wait = self.wait.get_or_insert(Wait { since: now, counted_from: now });
        let patience_ends = wait.since + WRITE_PATIENCE;
        if now >= patience_ends {
            return Err(Reason::Unread);
        }
        if self.waited + now.saturating_duration_since(wait.counted_from) >= RATE_WINDOW {
            if self.taken < self.least {
                return Err(Reason::Slow);
            }
            wait.counted_from = now;
            (self.taken, self.waited) = (0, Duration::ZERO);
        }
        let window_ends = wait.counted_from + RATE_WINDOW.saturating_sub(self.waited);
        Ok(window_ends.min(patience_ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u64 = 16 * 1024;

    /// A client that takes so much a second, until it is cut off or the time is over.
    fn download(bytes_a_second: usize, seconds: u64) -> Result<(), (Reason, u64)> {
        let start = Instant::now();
        let mut rate = TakingRate::new(RATE);
        for second in 0..seconds {
            let now = start + Duration::from_secs(second);
            rate.waits(now).map_err(|reason| (reason, second))?;
            if bytes_a_second > 0 {
                rate.took(bytes_a_second, now + Duration::from_millis(999));
            }
        }
        Ok(())
    }

    #[test]
    fn a_client_above_the_least_rate_is_served_for_ever() {
        assert_eq!(download(RATE as usize + 100, 7200), Ok(()));
    }

    #[test]
    fn a_client_below_it_is_cut_off_at_the_end_of_a_window() {
        let (reason, second) = download(RATE as usize * 9 / 10, 7200).expect_err("too slow");
        assert_eq!(reason, Reason::Slow);
        assert!((120..=122).contains(&second), "{second}");
        assert_eq!(download(1, 7200).expect_err("too slow").0, Reason::Slow);
    }

    #[test]
    fn a_client_that_turns_slow_is_cut_off_within_two_windows() {
        let start = Instant::now();
        let mut rate = TakingRate::new(RATE);
        rate.waits(start).expect("waits");
        rate.took(1 << 30, start + Duration::from_secs(1));
        let outcome = (1..400).find_map(|second| {
            let now = start + Duration::from_secs(second);
            let refused = rate.waits(now).err();
            rate.took(100, now + Duration::from_millis(999));
            refused.map(|reason| (reason, second))
        });
        let (reason, second) = outcome.expect("cut off");
        assert_eq!(reason, Reason::Slow);
        assert!(second <= 245, "{second}");
    }

    #[test]
    fn a_client_that_takes_nothing_is_cut_off_by_the_patience() {
        assert_eq!(download(0, 7200), Err((Reason::Unread, WRITE_PATIENCE.as_secs())));
    }

    #[test]
    fn waiting_for_the_server_does_not_count() {
        let start = Instant::now();
        let mut rate = TakingRate::new(RATE);
        for hour in 0..100 {
            let now = start + Duration::from_secs(3600 * hour);
            rate.waits(now).expect("waits");
            rate.took(20_000, now + Duration::from_secs(1));
        }
    }

    #[test]
    fn without_a_least_rate_any_progress_is_enough() {
        let start = Instant::now();
        let mut rate = TakingRate::new(0);
        for second in 0..7200 {
            rate.waits(start + Duration::from_secs(second)).expect("waits");
            rate.took(1, start + Duration::from_secs(second) + Duration::from_millis(999));
        }
    }
}
