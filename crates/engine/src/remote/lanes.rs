//! Connections that batches of keys are read through: which of them is busy, and who waits for one.
//!
//! What is asked for while every lane is busy waits, and goes together in the next statement of a lane, which costs the
//! database little more than one batch does: see `carry.rs`. No task stands behind a lane: whoever has it carries what
//! waits, and hands it on.
//!
//! That a lane is busy is a reason to wait, not a lock: a connection takes any number of statements. So nobody depends on those
//! who asked before being there still to hear the answer. When nothing has moved for some time the lanes are counted as free.

use super::connection::Connection;
use super::together::Asked;
use crate::error::EngineError;
use crate::txn::{Entry, Ticks};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Batches that go together, and keys of them.
const TOGETHER: usize = 64;
const KEYS_TOGETHER: usize = 512;
/// Beyond these, a batch is turned away at once.
const WAITING: usize = 16_384;
/// When no lane was done with anything for so long, nobody waits for them: a few times what a statement takes.
const STANDS_STILL: Duration = Duration::from_millis(10);

/// What one statement found: one snapshot.
#[derive(Debug)]
pub(super) struct Batch {
    /// In the order of the keys.
    pub entries: Vec<Option<Entry>>,
    /// One of the earlier keys has another version by now.
    pub torn: bool,
    /// The clock, after the snapshot was taken.
    pub now: Ticks,
}

/// A batch that waits for a lane.
pub(super) struct Waiter {
    pub asked: Asked,
    pub told: oneshot::Sender<Told>,
}

pub(super) enum Told {
    /// It has the lane now, and carries what waits.
    Lead(Busy),
    /// What was found, and on which generation.
    Found(Batch, u64),
    /// The database refused the statement of this lane that carried it, maybe for another's sake: each asks for itself.
    Alone(usize),
}

pub(super) struct ReadLanes(Mutex<State>);

struct State {
    lanes: Vec<Lane>,
    waiting: VecDeque<Waiter>,
    /// When a lane was last done with something.
    moved: Instant,
}

#[derive(Default)]
struct Lane {
    /// Once it was opened.
    connection: Option<Arc<Connection>>,
    is_busy: bool,
    /// How often it was counted as free while it was busy: what was under way then says nothing about it any more.
    given_up: u64,
}

/// Whoever has this has the lane. When it is dropped the next who waits has it.
pub(super) struct Busy {
    pub lane: usize,
    given_up: u64,
    lanes: Arc<ReadLanes>,
    is_handed_on: bool,
}

pub(super) enum Entered {
    /// A lane was free.
    Has(Busy),
    Waits(oneshot::Receiver<Told>),
}

impl ReadLanes {
    pub fn new(count: usize) -> Self {
        let lanes = (0..count).map(|_| Lane::default()).collect();
        Self(Mutex::new(State { lanes, waiting: VecDeque::new(), moved: Instant::now() }))
    }

    pub fn enter(self: &Arc<Self>, asked: &Asked) -> Result<Entered, EngineError> {
        let mut state = self.0.lock();
        if let Some(lane) = state.occupy() {
            return Ok(Entered::Has(self.busy(lane)));
        }
        if state.moved.elapsed() >= STANDS_STILL {
            state.give_up();
            if let Some(lane) = state.occupy() {
                return Ok(Entered::Has(self.busy(lane)));
            }
        }
        if state.waiting.len() >= WAITING {
            state.waiting.retain(|waiter| !waiter.told.is_closed());
        }
        if state.waiting.len() >= WAITING {
            return Err(EngineError::Unavailable("overloaded"));
        }
        let (told, tells) = oneshot::channel();
        state.waiting.push_back(Waiter { asked: asked.clone(), told });
        Ok(Entered::Waits(tells))
    }

    fn busy(self: &Arc<Self>, (lane, given_up): (usize, u64)) -> Busy {
        Busy { lane, given_up, lanes: self.clone(), is_handed_on: false }
    }

    /// What waits and goes together with a batch of this size, in the order in which it came.
    pub fn take(&self, mut size: usize) -> Vec<Waiter> {
        let mut state = self.0.lock();
        let mut taken = Vec::new();
        while taken.len() + 1 < TOGETHER
            && let Some(next) = state.waiting.pop_front()
        {
            if next.told.is_closed() {
                continue;
            }
            size += next.asked.size();
            if size > KEYS_TOGETHER {
                state.waiting.push_front(next);
                break;
            }
            taken.push(next);
        }
        taken
    }

    pub fn connection(&self, lane: usize) -> Option<Arc<Connection>> {
        self.0.lock().lanes.get(lane)?.connection.clone()
    }

    pub fn set_connection(&self, lane: usize, connection: Option<Arc<Connection>>) {
        if let Some(lane) = self.0.lock().lanes.get_mut(lane) {
            lane.connection = connection;
        }
    }
}

impl State {
    /// The number of a lane that was free until now.
    fn occupy(&mut self) -> Option<(usize, u64)> {
        let number = self.lanes.iter().position(|lane| !lane.is_busy)?;
        let lane = self.lanes.get_mut(number)?;
        lane.is_busy = true;
        Some((number, lane.given_up))
    }

    fn give_up(&mut self) {
        self.moved = Instant::now();
        for lane in &mut self.lanes {
            lane.is_busy = false;
            lane.given_up += 1;
        }
    }

    /// Who has this lane next. It is free when nobody waits.
    fn next_on(&mut self, lane: usize, given_up: u64) -> Option<Waiter> {
        let lane = self.lanes.get_mut(lane).filter(|lane| lane.given_up == given_up)?;
        self.moved = Instant::now();
        while let Some(waiter) = self.waiting.pop_front() {
            if !waiter.told.is_closed() {
                return Some(waiter);
            }
        }
        lane.is_busy = false;
        None
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.is_handed_on {
            return;
        }
        // As long as some who wait turn out to have left.
        loop {
            let next = self.lanes.0.lock().next_on(self.lane, self.given_up);
            let Some(waiter) = next else { return };
            let busy = self.lanes.busy((self.lane, self.given_up));
            match waiter.told.send(Told::Lead(busy)) {
                Err(Told::Lead(mut busy)) => busy.is_handed_on = true,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests;
