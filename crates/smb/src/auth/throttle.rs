//! Guessing is slow: an address or account that failed often waits before its next try is judged, and the tries of one address at one account are
//! judged one after the other. No account is locked out, for then anyone could lock out an account's owner: where a line is too long, or an
//! address has too many of them, only those of that address are sent away. Where all addresses together have too many lines, who has none
//! waits without one.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Failures that cost nothing, by one address and of one account.
const FREE_OF_ADDRESS: u32 = 20;
const FREE_OF_ACCOUNT: u32 = 50;
/// A failure is forgotten after this long.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(100);
/// A try that would wait longer than this in its line is refused; a client has less time than this to log on.
const LONGEST_LINE: Duration = Duration::from_secs(16);
/// Subjects that are remembered; those that failed least lately go first.
const SUBJECTS_MAX: usize = 4096;
const LINES_MAX: usize = 4096;
/// Accounts that one address tries and has to wait for.
const LINES_OF_ADDRESS_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subject {
    Address(IpAddr),
    Account(String),
}

struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    /// What is left of them now.
    fn now(&self, now: Instant) -> u32 {
        let forgotten = now.saturating_duration_since(self.last).as_secs() / FORGOTTEN_AFTER.as_secs();
        self.count.saturating_sub(u32::try_from(forgotten).unwrap_or(u32::MAX))
    }
}

#[derive(Default)]
pub struct Throttle {
    failures: Mutex<HashMap<Subject, Failures>>,
    /// When the last try that waits is judged, of an address at an account.
    lines: Mutex<HashMap<(IpAddr, Subject), Instant>>,
}

impl Throttle {
    /// After how long this try is judged: it has a place in the line from now on. None where the line is too long, or would be one too many
    /// of its address.
    pub fn turn(&self, address: IpAddr, account: &str, now: Instant) -> Option<Duration> {
        let delay = self.delay(address, account, now);
        if delay.is_zero() {
            return Some(delay);
        }
        let mut lines = self.lines.lock();
        let line = (address, subject_of(account));
        if !lines.contains_key(&line) {
            lines.retain(|_, last| *last > now);
            if lines.keys().filter(|(of, _)| *of == address).count() >= LINES_OF_ADDRESS_MAX {
                return None;
            }
            // Many addresses fill it. They must not keep others out: those wait side by side.
            if lines.len() >= LINES_MAX {
                return Some(delay);
            }
        }
        let last = lines.entry(line).or_insert(now);
        let turn = (*last).max(now) + delay;
        let wait = turn.saturating_duration_since(now);
        if wait > LONGEST_LINE {
            return None;
        }
        *last = turn;
        Some(wait)
    }

    /// What failures before this try cost it.
    fn delay(&self, address: IpAddr, account: &str, now: Instant) -> Duration {
        let failures = self.failures.lock();
        let count = |subject: &Subject| failures.get(subject).map_or(0, |failures| failures.now(now));
        let of_address = count(&Subject::Address(address)).saturating_sub(FREE_OF_ADDRESS);
        let of_account = count(&subject_of(account)).saturating_sub(FREE_OF_ACCOUNT);
        (STEP * of_address.max(of_account).min(1000)).min(LONGEST_WAIT)
    }

    pub fn failed(&self, address: IpAddr, account: &str, now: Instant) {
        let mut failures = self.failures.lock();
        for subject in [Subject::Address(address), subject_of(account)] {
            if failures.len() >= SUBJECTS_MAX && !failures.contains_key(&subject) {
                make_room(&mut failures, now);
            }
            let entry = failures.entry(subject).or_insert(Failures { count: 0, last: now });
            entry.count = entry.now(now).saturating_add(1);
            entry.last = now;
        }
    }

    /// The owner is there: their own mistakes are forgotten.
    pub fn succeeded(&self, address: IpAddr) {
        self.failures.lock().remove(&Subject::Address(address));
    }
}

fn subject_of(account: &str) -> Subject {
    // Long names are not account names; a prefix tells them apart well enough.
    Subject::Account(account.chars().take(64).flat_map(char::to_lowercase).collect())
}

fn make_room(failures: &mut HashMap<Subject, Failures>, now: Instant) {
    failures.retain(|_, failures| failures.now(now) > 0);
    if failures.len() >= SUBJECTS_MAX {
        let oldest =
            failures.iter().min_by_key(|(_, failures)| failures.last).map(|(subject, _)| subject.clone());
        if let Some(oldest) = oldest {
            failures.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn tries_get_slower_and_the_failures_are_forgotten() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for _ in 0..FREE_OF_ADDRESS {
            throttle.failed(HERE, "acct", now);
        }
        assert_eq!(throttle.delay(HERE, "acct", now), Duration::ZERO);
        (0..5).for_each(|_| throttle.failed(HERE, "acct", now));
        assert_eq!(throttle.delay(HERE, "other", now), STEP * 5);
        (0..1000).for_each(|_| throttle.failed(HERE, "acct", now));
        assert_eq!(throttle.delay(HERE, "other", now), LONGEST_WAIT);
        let elsewhere = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(throttle.delay(elsewhere, "ACCT", now), LONGEST_WAIT);
        assert_eq!(throttle.delay(elsewhere, "other", now), Duration::ZERO);
        assert_eq!(throttle.delay(HERE, "other", now + FORGOTTEN_AFTER * 2000), Duration::ZERO);
    }

    #[test]
    fn tries_of_one_address_at_one_account_are_judged_one_after_the_other() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        (0..1000).for_each(|_| throttle.failed(HERE, "acct", now));
        let places: Vec<_> = (0..20).map_while(|_| throttle.turn(HERE, "acct", now)).collect();
        let apart: Vec<_> = (1..=8).map(|place| LONGEST_WAIT * place).collect();
        assert_eq!(places, apart, "side by side they would all be judged after the first one's wait");
        // A try from another address, or at another account, stands in another line.
        let elsewhere = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(throttle.turn(elsewhere, "acct", now), Some(LONGEST_WAIT));
        assert_eq!(throttle.turn(elsewhere, "other", now), Some(Duration::ZERO));
        // A line goes on as its tries are judged.
        assert_eq!(throttle.turn(HERE, "acct", now + LONGEST_WAIT), Some(LONGEST_LINE));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for number in 0..SUBJECTS_MAX + 50 {
            throttle.failed(HERE, &format!("account{number}"), now);
        }
        assert!(throttle.failures.lock().len() <= SUBJECTS_MAX);
        (0..100).for_each(|_| throttle.failed(HERE, "acct", now));
        for number in 0..SUBJECTS_MAX + 50 {
            let joined = throttle.turn(HERE, &format!("account{number}"), now);
            assert_eq!(joined.is_some(), number < LINES_OF_ADDRESS_MAX);
        }
        assert!(
            throttle.turn(HERE, "another", now + LONGEST_WAIT * 2).is_some(),
            "lines that are over are forgotten"
        );
    }

    #[test]
    fn nobody_is_kept_out_by_lines_of_other_addresses() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        (0..1000).for_each(|_| throttle.failed(HERE, "acct", now));
        let owner = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        for number in 0..LINES_MAX + 50 {
            throttle.turn(HERE, &format!("account{number}"), now);
        }
        assert_eq!(throttle.turn(owner, "acct", now), Some(LONGEST_WAIT), "one address fills nothing");
        for number in 0..LINES_MAX as u32 + 50 {
            let many = IpAddr::V4(Ipv4Addr::from_bits(0x0B00_0000 + number));
            assert!(throttle.turn(many, "acct", now).is_some());
        }
        assert_eq!(throttle.lines.lock().len(), LINES_MAX);
        let another = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
        assert_eq!(throttle.turn(another, "acct", now), Some(LONGEST_WAIT), "many addresses keep none out");
    }
}
