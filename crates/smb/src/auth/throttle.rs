//! Guessing is slow: an address or account that failed often waits before its next try is judged. No account is locked out, for then anyone could
//! lock out an account's owner.

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
/// Subjects that are remembered; those that failed least lately go first.
const SUBJECTS_MAX: usize = 4096;

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
pub struct Throttle(Mutex<HashMap<Subject, Failures>>);

impl Throttle {
    /// How long this try must wait.
    pub fn wait(&self, address: IpAddr, account: &str, now: Instant) -> Duration {
        let failures = self.0.lock();
        let count = |subject: &Subject| failures.get(subject).map_or(0, |failures| failures.now(now));
        let of_address = count(&Subject::Address(address)).saturating_sub(FREE_OF_ADDRESS);
        let of_account = count(&subject_of(account)).saturating_sub(FREE_OF_ACCOUNT);
        (STEP * of_address.max(of_account).min(1000)).min(LONGEST_WAIT)
    }

    pub fn failed(&self, address: IpAddr, account: &str, now: Instant) {
        let mut failures = self.0.lock();
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
        self.0.lock().remove(&Subject::Address(address));
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
        assert_eq!(throttle.wait(HERE, "acct", now), Duration::ZERO);
        (0..5).for_each(|_| throttle.failed(HERE, "acct", now));
        assert_eq!(throttle.wait(HERE, "other", now), STEP * 5);
        (0..1000).for_each(|_| throttle.failed(HERE, "acct", now));
        assert_eq!(throttle.wait(HERE, "other", now), LONGEST_WAIT);
        let elsewhere = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(throttle.wait(elsewhere, "ACCT", now), LONGEST_WAIT);
        assert_eq!(throttle.wait(elsewhere, "other", now), Duration::ZERO);
        assert_eq!(throttle.wait(HERE, "other", now + FORGOTTEN_AFTER * 2000), Duration::ZERO);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for number in 0..SUBJECTS_MAX + 50 {
            throttle.failed(HERE, &format!("account{number}"), now);
        }
        assert!(throttle.0.lock().len() <= SUBJECTS_MAX);
    }
}
