//! Order in a crowd of transactions that race for one key.
//!
//! Of many transactions that write one key under a condition on what they read, one wins and the others are refused at
//! once; they read again and race again, each time to the same end. With sixteen contenders, fifteen of sixteen attempts
//! are then work for nothing, and they delay the winner. So when more than a few lose at the same time, the others are
//! told one after another, first come first served: one with each group of commits that writes the key. When no commit
//! writes the key any more, the line stands still and all leave it.
//!
//! Nothing depends on it: a transaction that is let go decides anew, on a fresh snapshot (decision 0011).

use crate::key::Key;
use foldhash::fast::FixedState;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Losers of the same time who are let go at once.
const AT_ONCE: usize = 2;
/// How long "the same time" is.
const WHILE: Duration = Duration::from_millis(1);
/// A line that has let no transaction go for so long stands still.
const STILL: Duration = Duration::from_millis(4);
/// The longest wait in a line that moves.
const PATIENCE: Duration = Duration::from_millis(20);
/// Keys that share a place wait together: no harm.
const PLACES: usize = 64;

pub(super) struct Crowd {
    places: [Mutex<Place>; PLACES],
    /// The places where a transaction waits, a bit for each.
    waited_at: AtomicU64,
}

#[derive(Default)]
struct Place {
    /// How many were let go at once, since when.
    passed: usize,
    since: Option<Instant>,
    waiting: VecDeque<oneshot::Sender<()>>,
    /// When a commit last let a transaction go.
    moved: Option<Instant>,
}

fn place(key: &Key) -> usize {
    (FixedState::default().hash_one(key) >> 32) as usize % PLACES
}

impl Default for Crowd {
    fn default() -> Self {
        Self { places: std::array::from_fn(|_| Mutex::default()), waited_at: AtomicU64::new(0) }
    }
}

impl Crowd {
    /// Returns when it is time to try again after a race for this key was lost.
    pub async fn lost(&self, key: &Key) {
        let at = place(key);
        let Some(mut go) = self.enter(at) else { return };
        let entered = Instant::now();
        while tokio::time::timeout(STILL, &mut go).await.is_err() {
            if entered.elapsed() > PATIENCE || !self.moves(at) {
                return;
            }
        }
    }

    fn moves(&self, at: usize) -> bool {
        let moved = self.places.get(at).and_then(|place| place.lock().moved);
        moved.is_some_and(|moved| moved.elapsed() < STILL)
    }

    fn enter(&self, at: usize) -> Option<oneshot::Receiver<()>> {
        let mut place = self.places.get(at)?.lock();
        while place.waiting.front().is_some_and(oneshot::Sender::is_closed) {
            place.waiting.pop_front();
        }
        if place.waiting.is_empty() {
            let now = Instant::now();
            if place.since.is_none_or(|since| now - since > WHILE) {
                place.since = Some(now);
                place.passed = 0;
            }
            if place.passed < AT_ONCE {
                place.passed += 1;
                return None;
            }
        }
        let (let_go, go) = oneshot::channel();
        place.waiting.push_back(let_go);
        self.waited_at.fetch_or(1 << at, Ordering::Relaxed);
        Some(go)
    }

    /// These keys have been written, and every new snapshot shows it.
    pub fn wrote<'a>(&self, keys: impl Iterator<Item = &'a Key>) {
        let waited_at = self.waited_at.load(Ordering::Relaxed);
        if waited_at == 0 {
            return;
        }
        let mut places = waited_at & keys.fold(0, |places, key| places | 1 << place(key));
        while places != 0 {
            let at = places.trailing_zeros() as usize;
            places &= places - 1;
            self.release(at);
        }
    }

    fn release(&self, at: usize) {
        let Some(place) = self.places.get(at) else { return };
        let mut place = place.lock();
        place.moved = Some(Instant::now());
        while let Some(next) = place.waiting.pop_front() {
            if next.send(()).is_ok() {
                break;
            }
        }
        if place.waiting.is_empty() {
            self.waited_at.fetch_and(!(1 << at), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::{Pin, pin};
    use std::task::{Context, Waker};

    static KEY: Key = Key::from_static(b"hot");

    fn is_let_go(lost: Pin<&mut impl Future<Output = ()>>) -> bool {
        lost.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[tokio::test]
    async fn a_few_losers_do_not_wait() {
        let crowd = Crowd::default();
        for _ in 0..AT_ONCE {
            assert!(is_let_go(pin!(crowd.lost(&KEY))));
        }
        assert!(!is_let_go(pin!(crowd.lost(&KEY))), "one too many");
    }

    #[tokio::test]
    async fn each_commit_on_the_key_lets_the_next_go_in_order() {
        let crowd = Crowd::default();
        for _ in 0..AT_ONCE {
            crowd.lost(&KEY).await;
        }
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(crowd.lost(&KEY))).collect();
        for one in &mut waiting {
            assert!(!is_let_go(one.as_mut()));
        }
        let elsewhere = (0..).map(|n: u32| Key::from(n.to_be_bytes().to_vec()));
        let elsewhere = { elsewhere }.find(|key| place(key) != place(&KEY)).expect("another place");
        crowd.wrote([&elsewhere].into_iter());
        assert!(!is_let_go(waiting[0].as_mut()), "another key");
        crowd.wrote([&elsewhere, &KEY].into_iter());
        assert!(is_let_go(waiting[0].as_mut()));
        assert!(!is_let_go(waiting[1].as_mut()));
        // A transaction that left is passed over.
        drop(waiting.remove(1));
        crowd.wrote([&KEY, &KEY].into_iter());
        assert!(is_let_go(waiting[1].as_mut()));
    }

    #[tokio::test]
    async fn a_line_that_stands_still_is_left() {
        let crowd = Crowd::default();
        for _ in 0..AT_ONCE {
            crowd.lost(&KEY).await;
        }
        let began = Instant::now();
        tokio::time::timeout(PATIENCE * 50, crowd.lost(&KEY)).await.expect("leaves by itself");
        assert!(began.elapsed() >= STILL);
        // A transaction that left is not in the way of those that come.
        for _ in 0..AT_ONCE {
            assert!(is_let_go(pin!(crowd.lost(&KEY))));
        }
    }
}
