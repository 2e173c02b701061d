//! Batches of keys that wait for a lane of reading.
//!
//! What is asked for while every lane is busy goes together in the next statement of a lane (`carry.rs`), which costs the
//! database little more than one batch does.

use super::fault::Fault;
use super::together::Asked;
use crate::error::EngineError;
use crate::txn::{Entry, Ticks};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};

/// Batches that go together, and keys of them.
const TOGETHER: usize = 64;
const KEYS_TOGETHER: usize = 512;
/// Beyond these, a batch is turned away at once.
const WAITING: usize = 16_384;
/// How often, then, those who left are looked for.
const LOOK: Duration = Duration::from_millis(10);

/// What one statement found of one batch: one snapshot.
#[derive(Debug)]
pub(super) struct Batch {
    /// In the order of the keys.
    pub entries: Vec<Option<Entry>>,
    /// One of the earlier keys has another version by now.
    pub torn: bool,
    /// The clock, after the snapshot was taken.
    pub now: Ticks,
}

/// What was found, and on which generation.
pub(super) type Told = Result<(Batch, u64), Fault>;

pub(super) struct Waiter {
    pub asked: Asked,
    pub told: oneshot::Sender<Told>,
}

pub(super) struct ReadLanes {
    state: Mutex<State>,
    wake: Vec<Notify>,
}

struct State {
    waiting: VecDeque<Waiter>,
    /// Which lanes wait for work.
    idle: Vec<bool>,
    looked: Instant,
}

impl ReadLanes {
    pub fn new(count: usize) -> Self {
        let state = State { waiting: VecDeque::new(), idle: vec![false; count], looked: Instant::now() };
        Self { state: Mutex::new(state), wake: (0..count).map(|_| Notify::new()).collect() }
    }

    pub fn count(&self) -> usize {
        self.wake.len()
    }

    /// It waits for the next statement of a lane.
    pub fn push(&self, asked: Asked) -> Result<oneshot::Receiver<Told>, EngineError> {
        let mut state = self.state.lock();
        if state.waiting.len() >= WAITING && state.looked.elapsed() >= LOOK {
            state.waiting.retain(|waiter| !waiter.told.is_closed());
            state.looked = Instant::now();
        }
        if state.waiting.len() >= WAITING {
            return Err(EngineError::Unavailable("overloaded"));
        }
        let (told, tells) = oneshot::channel();
        state.waiting.push_back(Waiter { asked, told });
        if let Some((idle, wake)) = state.idle.iter_mut().zip(&self.wake).find(|(idle, _)| **idle) {
            *idle = false;
            wake.notify_one();
        }
        Ok(tells)
    }

    /// What goes together next, in the order in which it came; the first of it however large it is. When there is nothing, the
    /// lane is idle from now on, and waits for [`Self::woken`].
    pub fn take(&self, lane: usize) -> Vec<Waiter> {
        let mut state = self.state.lock();
        let (mut taken, mut size) = (Vec::new(), 0);
        while taken.len() < TOGETHER
            && let Some(next) = state.waiting.pop_front()
        {
            if next.told.is_closed() {
                continue;
            }
            size += next.asked.size();
            if size > KEYS_TOGETHER && !taken.is_empty() {
                state.waiting.push_front(next);
                break;
            }
            taken.push(next);
        }
        if let Some(idle) = state.idle.get_mut(lane) {
            *idle = taken.is_empty();
        }
        taken
    }

    pub async fn woken(&self, lane: usize) {
        if let Some(wake) = self.wake.get(lane) {
            wake.notified().await;
        }
    }
}

#[cfg(test)]
mod tests;
