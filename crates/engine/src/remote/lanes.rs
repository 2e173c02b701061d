//! Connections that batches of keys are read through: which of them is busy, and who waits for one.
//!
//! What is asked for while every lane is busy waits, and goes together in the statement of the next lane that is free, which
//! costs the database little more than one batch does: see `carrier.rs`. That a lane is busy is a reason to wait, not a
//! lock: a connection takes any number of statements. So nobody depends on whether those who asked before are still
//! there to hear the answer: a lane that is busy for long is counted as free.

use super::connection::Connection;
use super::fault::Fault;
use super::together::Asked;
use crate::error::EngineError;
use crate::txn::{Entry, Ticks};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{Notify, oneshot};

/// Batches that go together, and keys of them.
const TOGETHER: usize = 64;
const KEYS_TOGETHER: usize = 512;
/// Beyond these, a batch is turned away at once.
const WAITING: usize = 16_384;

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

/// What was found, and on which generation.
pub(super) type Told = Result<(Batch, u64), Fault>;

/// A batch that waits for a lane.
pub(super) struct Waiter {
    pub asked: Asked,
    pub told: oneshot::Sender<Told>,
}

pub(super) struct ReadLanes {
    state: Mutex<State>,
    /// Something waits, and a lane may be free.
    pub wanted: Notify,
}

struct State {
    lanes: Vec<Lane>,
    waiting: VecDeque<Waiter>,
    /// Whoever carries what waits knows that something does.
    is_watched: bool,
    /// How often something that waited was taken, or a lane became free.
    progress: u64,
}

#[derive(Default)]
struct Lane {
    /// Once it was opened.
    connection: Option<Arc<Connection>>,
    is_busy: bool,
    /// How often it was counted as free while it was busy: what was under way then says nothing about it any more.
    given_up: u64,
}

/// Something is under way on a lane, until this is dropped.
pub(super) struct Busy {
    pub lane: usize,
    given_up: u64,
    lanes: Arc<ReadLanes>,
}

/// What there is to do for those who wait.
pub(super) enum Next {
    /// These go together, on this lane.
    Carry(Busy, Vec<Waiter>),
    /// They wait for a lane; how far things have come by now.
    AllBusy(u64),
    Nothing,
}

pub(super) enum Entered {
    /// A lane was free.
    Has(Busy),
    Waits(oneshot::Receiver<Told>),
}

impl ReadLanes {
    pub fn new(count: usize) -> Self {
        let lanes = (0..count).map(|_| Lane::default()).collect();
        let state = State { lanes, waiting: VecDeque::new(), is_watched: false, progress: 0 };
        Self { state: Mutex::new(state), wanted: Notify::new() }
    }

    pub fn enter(self: &Arc<Self>, asked: &Asked) -> Result<Entered, EngineError> {
        let mut state = self.state.lock();
        if state.waiting.is_empty()
            && let Some(lane) = state.occupy()
        {
            return Ok(Entered::Has(self.busy(lane)));
        }
        if state.waiting.len() >= WAITING {
            state.waiting.retain(|waiter| !waiter.told.is_closed());
        }
        if state.waiting.len() >= WAITING {
            return Err(EngineError::Unavailable("overloaded"));
        }
        let (told, tells) = oneshot::channel();
        state.waiting.push_back(Waiter { asked: asked.clone(), told });
        if !state.is_watched {
            state.is_watched = true;
            self.wanted.notify_one();
        }
        Ok(Entered::Waits(tells))
    }

    fn busy(self: &Arc<Self>, (lane, given_up): (usize, u64)) -> Busy {
        Busy { lane, given_up, lanes: self.clone() }
    }

    pub fn next(self: &Arc<Self>) -> Next {
        let mut state = self.state.lock();
        let taken = match state.lanes.iter().any(|lane| !lane.is_busy) {
            true => state.take(),
            false => Vec::new(),
        };
        if !taken.is_empty()
            && let Some(lane) = state.occupy()
        {
            return Next::Carry(self.busy(lane), taken);
        }
        state.is_watched = !state.waiting.is_empty();
        match state.is_watched {
            true => Next::AllBusy(state.progress),
            false => Next::Nothing,
        }
    }

    /// What goes next on a lane that is done with what was under way. Nothing when it was counted as free meanwhile: others
    /// use it.
    pub fn take(&self, busy: &Busy) -> Vec<Waiter> {
        let mut state = self.state.lock();
        let is_still_its = |lane: &Lane| lane.given_up == busy.given_up;
        match state.lanes.get(busy.lane).is_some_and(is_still_its) {
            true => state.take(),
            false => Vec::new(),
        }
    }

    /// Nothing has come further since then: what waits is not to wait for what is under way any more.
    pub fn give_up(&self, since: u64) {
        let mut state = self.state.lock();
        if state.progress == since {
            state.progress += 1;
            for lane in &mut state.lanes {
                lane.is_busy = false;
                lane.given_up += 1;
            }
        }
    }

    pub fn connection(&self, lane: usize) -> Option<Arc<Connection>> {
        self.state.lock().lanes.get(lane)?.connection.clone()
    }

    pub fn set_connection(&self, lane: usize, connection: Option<Arc<Connection>>) {
        if let Some(lane) = self.state.lock().lanes.get_mut(lane) {
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

    /// What waits and goes together, in the order in which it came. The first of it goes however large it is.
    fn take(&mut self) -> Vec<Waiter> {
        let (mut taken, mut size) = (Vec::new(), 0);
        while taken.len() < TOGETHER
            && let Some(next) = self.waiting.pop_front()
        {
            if next.told.is_closed() {
                continue;
            }
            size += next.asked.size();
            if size > KEYS_TOGETHER && !taken.is_empty() {
                self.waiting.push_front(next);
                break;
            }
            taken.push(next);
        }
        self.progress += 1;
        taken
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.lanes.state.lock();
        let waits = !state.waiting.is_empty();
        if let Some(lane) = state.lanes.get_mut(self.lane)
            && lane.given_up == self.given_up
        {
            lane.is_busy = false;
            state.progress += 1;
            if waits {
                self.lanes.wanted.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests;
