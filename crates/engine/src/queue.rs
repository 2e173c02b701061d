//! Transactions that wait for the committer.

use crate::error::EngineError;
use crate::key::Key;
use crate::reply::Reply;
use crate::txn::Txn;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A group takes what waits, up to these.
const GROUP_JOBS: usize = 1_024;
const GROUP_BYTES: usize = 1 << 20;
/// While a group is being synced, the next is begun only when so many wait: fewer are better committed
/// together, since each sync costs work as well as time.
const OVERLAP_JOBS: usize = 16;
/// Beyond these, a transaction is turned away at once.
const WAITING_JOBS: usize = 65_536;
const WAITING_BYTES: usize = 64 << 20;

pub(crate) struct Job {
    pub txn: Txn,
    pub size: usize,
    /// The snapshot that every check was read at, when they were all read at one.
    pub snapshot: Option<u64>,
    pub reply: Reply,
}

/// Why a transaction was not committed; the key, when somebody else's write was the reason.
#[derive(Debug)]
pub(crate) enum Refusal {
    Conflict(Key),
    Error(EngineError),
}

impl From<Refusal> for EngineError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Conflict(_) => Self::Conflict,
            Refusal::Error(error) => error,
        }
    }
}

#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    bytes: usize,
    /// A group is being synced.
    syncing: bool,
    ended: Option<Ended>,
}

impl State {
    fn is_ready(&self) -> bool {
        let wanted = if self.syncing && self.ended.is_none() { OVERLAP_JOBS } else { 1 };
        self.jobs.len() >= wanted
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The engine is closed: what waits is committed, then a clean stop is noted.
    Closed,
    /// The last handle is gone: what waits is committed, nothing is noted.
    Dropped,
}

pub(crate) enum Taken {
    Group(Vec<Job>),
    /// Nothing came in time.
    Idle,
    Ended(Ended),
}

impl Queue {
    pub fn push(&self, job: Job) -> Result<(), Refusal> {
        let mut state = self.state.lock();
        if state.ended.is_some() {
            return Err(Refusal::Error(EngineError::Unavailable("shutting down")));
        }
        if state.jobs.len() >= WAITING_JOBS || state.bytes + job.size > WAITING_BYTES {
            return Err(Refusal::Error(EngineError::Unavailable("overloaded")));
        }
        state.bytes += job.size;
        state.jobs.push_back(job);
        let ready = matches!(state.jobs.len(), 1 | OVERLAP_JOBS);
        drop(state);
        if ready {
            self.woken.notify_one();
        }
        Ok(())
    }

    pub fn set_syncing(&self, syncing: bool) {
        self.state.lock().syncing = syncing;
        if !syncing {
            self.woken.notify_one();
        }
    }

    pub fn end(&self, how: Ended) {
        self.state.lock().ended.get_or_insert(how);
        self.woken.notify_one();
    }

    /// Everything that waits, up to one group. `patience` of `None` waits for ever.
    pub fn take(&self, patience: Option<Duration>) -> Taken {
        let until = patience.map(|patience| Instant::now() + patience);
        let mut state = self.state.lock();
        while !state.is_ready() {
            // What waits is committed first: ended, one is enough to be ready.
            if let Some(how) = state.ended {
                return Taken::Ended(how);
            }
            match until {
                None => self.woken.wait(&mut state),
                Some(until) => {
                    if self.woken.wait_until(&mut state, until).timed_out() && !state.is_ready() {
                        return state.ended.map_or(Taken::Idle, Taken::Ended);
                    }
                }
            }
        }
        let mut bytes = 0;
        let mut count = 0;
        for job in state.jobs.iter().take(GROUP_JOBS) {
            if count > 0 && bytes + job.size > GROUP_BYTES {
                break;
            }
            bytes += job.size;
            count += 1;
        }
        state.bytes -= bytes;
        if count == state.jobs.len() {
            return Taken::Group(std::mem::take(&mut state.jobs).into());
        }
        Taken::Group(state.jobs.drain(..count).collect())
    }
}
