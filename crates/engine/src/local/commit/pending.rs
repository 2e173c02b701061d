//! Transactions that wait for the committer.

use crate::error::{EngineError, Refusal};
use crate::local::commit::notify::{Reply, deliver};
use crate::txn::{Stamp, Txn};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So many groups are under way at a time, each carried by a thread. Of these, the recovery of the log must expect
/// that all were written and none is durable.
pub(crate) const GROUPS: usize = 3;
/// A group takes what waits, up to these.
const GROUP_JOBS: usize = 1_024;
const GROUP_BYTES: usize = 1 << 20;
/// While a group is being synced, the next is begun only when so many wait: fewer are better committed
/// together, since each sync costs work as well as time.
const OVERLAP_JOBS: usize = 12;
/// Beyond these, a transaction is turned away at once.
const WAITING_JOBS: usize = 65_536;
const WAITING_BYTES: usize = 64 << 20;

pub(crate) struct PendingCommit {
    pub txn: Txn,
    pub size: usize,
    /// The snapshot that every check was read from, when they are all of one attempt.
    pub read_at: Option<Stamp>,
    pub reply: Reply,
}

/// A group's place in the order of groups.
pub(crate) struct Turn {
    group: u64,
    jobs: usize,
}

/// The transactions that wait, and the stages that groups are in. The first and the last stage have room for one group; in between, as many are
/// synced at a time as there are threads, and come out in the order in which they went in.
///
/// A thread sleeps until it would find work, and is woken for nothing else: the thread that comes out of the last stage
/// takes what waits by itself, and only a group that can be begun meanwhile is worth another thread.
#[derive(Default)]
pub(crate) struct PendingCommits {
    state: Mutex<State>,
    /// A group can be taken.
    ready: Condvar,
    /// The third stage is free for the next group in turn.
    turn: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<PendingCommit>,
    bytes: usize,
    /// A group is in the first stage.
    writing: bool,
    /// How many transactions are in the second.
    syncing: usize,
    /// A group is in the third.
    publishing: bool,
    /// Groups that have entered the second stage, and that have left the third.
    entered: u64,
    left: u64,
    /// A thread failed: whose turn it was may never be known.
    given_up: bool,
    ended: Option<Ended>,
}

impl State {
    fn is_ready(&self) -> bool {
        let busy = (self.syncing > 0 || self.publishing) && !self.given_up;
        let wanted = if busy && self.ended.is_none() { OVERLAP_JOBS } else { 1 };
        !self.writing && self.jobs.len() >= wanted
    }

    fn admit(&self, job: &PendingCommit) -> Result<(), Refusal> {
        if self.ended.is_some() {
            return Err(Refusal::Error(EngineError::Unavailable("shutting down")));
        }
        if self.jobs.len() >= WAITING_JOBS || self.bytes + job.size > WAITING_BYTES {
            return Err(Refusal::Error(EngineError::Unavailable("overloaded")));
        }
        Ok(())
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
    Group(Vec<PendingCommit>),
    /// Nothing came in time.
    Idle,
    Ended(Ended),
}

impl PendingCommits {
    pub fn push(&self, job: PendingCommit) -> Result<(), Refusal> {
        let mut state = self.state.lock();
        state.admit(&job)?;
        state.bytes += job.size;
        let was = state.is_ready();
        state.jobs.push_back(job);
        let ready = !was && state.is_ready();
        // With fewer than it takes for a second group, the thread that syncs takes them next.
        drop(state);
        if ready {
            self.ready.notify_one();
        }
        Ok(())
    }

    /// Several that come together; those that are turned away are told.
    pub fn push_all(&self, jobs: Vec<PendingCommit>) {
        let mut refused = Vec::new();
        let mut state = self.state.lock();
        let was = state.is_ready();
        for job in jobs {
            match state.admit(&job) {
                Ok(()) => {
                    state.bytes += job.size;
                    state.jobs.push_back(job);
                }
                Err(refusal) => refused.push((job.reply, Err(refusal))),
            }
        }
        let ready = !was && state.is_ready();
        drop(state);
        if ready {
            self.ready.notify_one();
        }
        deliver(refused);
    }

    /// From the first stage to the second. Groups do not overtake each other: the first to come here is published first.
    pub fn begin_sync(&self, jobs: usize) -> Turn {
        let mut state = self.state.lock();
        let turn = Turn { group: state.entered, jobs };
        state.entered += 1;
        state.syncing += jobs;
        state.writing = false;
        let ready = state.is_ready();
        drop(state);
        if ready {
            self.ready.notify_one();
        }
        turn
    }

    /// From the second stage to the third, once every group before has left it.
    pub fn begin_publish(&self, turn: &Turn) {
        let mut state = self.state.lock();
        while state.left != turn.group && !state.given_up {
            self.turn.wait(&mut state);
        }
        state.publishing = true;
        state.syncing -= turn.jobs;
    }

    /// The caller takes what waits next.
    pub fn end_publish(&self, turn: Turn) {
        let mut state = self.state.lock();
        state.publishing = false;
        state.left = turn.group + 1;
        drop(state);
        self.turn.notify_all();
    }

    /// A thread failed: no other waits for its turn any more, and what waits can be refused.
    pub fn give_up(&self) {
        let mut state = self.state.lock();
        state.given_up = true;
        state.writing = false;
        self.ready.notify_all();
        self.turn.notify_all();
    }

    pub fn end(&self, how: Ended) {
        self.state.lock().ended.get_or_insert(how);
        self.ready.notify_all();
    }

    /// Everything that waits, up to one group, which is then in the first stage. `patience` of `None` waits for ever.
    pub fn take(&self, patience: Option<Duration>) -> Taken {
        let until = patience.map(|patience| Instant::now() + patience);
        let mut state = self.state.lock();
        while !state.is_ready() {
            // What waits is committed first, by the thread that has it in hand.
            if let Some(how) = state.ended.filter(|_| state.jobs.is_empty()) {
                return Taken::Ended(how);
            }
            match until {
                None => self.ready.wait(&mut state),
                Some(until) => {
                    if self.ready.wait_until(&mut state, until).timed_out() && !state.is_ready() {
                        return Taken::Idle;
                    }
                }
            }
        }
        let mut bytes = 0;
        let mut count = 0;
        // Groups under way are about alike, so that no stage rests while another is at a long one.
        let share = (state.jobs.len() + state.syncing).div_ceil(GROUPS).max(OVERLAP_JOBS);
        let most = if state.syncing > 0 { share.min(GROUP_JOBS) } else { GROUP_JOBS };
        for job in state.jobs.iter().take(most) {
            if count > 0 && bytes + job.size > GROUP_BYTES {
                break;
            }
            bytes += job.size;
            count += 1;
        }
        state.bytes -= bytes;
        state.writing = true;
        if count == state.jobs.len() {
            return Taken::Group(std::mem::take(&mut state.jobs).into());
        }
        Taken::Group(state.jobs.drain(..count).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::txn::TxnId;

    fn push(pending: &PendingCommits, jobs: usize) {
        for _ in 0..jobs {
            let txn = Txn::new(TxnId(0));
            let (reply, _) = Reply::channel();
            pending.push(PendingCommit { txn, size: 1, read_at: None, reply }).expect("room");
        }
    }

    /// How many a thread gets that cannot wait.
    fn take(pending: &PendingCommits) -> Option<usize> {
        match pending.take(Some(Duration::ZERO)) {
            Taken::Group(jobs) => Some(jobs.len()),
            Taken::Idle | Taken::Ended(_) => None,
        }
    }

    #[test]
    fn one_is_written_at_a_time_and_none_is_published_before_its_turn() {
        let pending = PendingCommits::default();
        push(&pending, 3);
        assert_eq!(take(&pending), Some(3));
        push(&pending, OVERLAP_JOBS);
        assert_eq!(take(&pending), None, "the first stage is taken");
        let first = pending.begin_sync(3);
        assert_eq!(take(&pending), Some(OVERLAP_JOBS));
        let second = pending.begin_sync(OVERLAP_JOBS);
        assert_eq!(pending.state.lock().syncing, 3 + OVERLAP_JOBS, "both at a time");
        std::thread::scope(|scope| {
            // It is durable sooner.
            let later = scope.spawn(|| pending.begin_publish(&second));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!later.is_finished());
            pending.begin_publish(&first);
            assert!(!later.is_finished());
            pending.end_publish(first);
            later.join().expect("goes on");
        });
        pending.end_publish(second);
        let state = pending.state.lock();
        assert_eq!((state.syncing, state.publishing, state.left), (0, false, 2));
    }

    #[test]
    fn no_thread_waits_for_one_that_failed() {
        let pending = PendingCommits::default();
        push(&pending, 1);
        assert_eq!(take(&pending), Some(1));
        let _failed = pending.begin_sync(1);
        push(&pending, OVERLAP_JOBS);
        assert_eq!(take(&pending), Some(OVERLAP_JOBS));
        let second = pending.begin_sync(OVERLAP_JOBS);
        std::thread::scope(|scope| {
            let later = scope.spawn(|| pending.begin_publish(&second));
            pending.give_up();
            later.join().expect("goes on");
        });
        pending.end_publish(second);
        push(&pending, 1);
        assert_eq!(take(&pending), Some(1), "to be refused");
    }

    #[test]
    fn below_the_threshold_jobs_wait_for_the_current_group() {
        let pending = PendingCommits::default();
        push(&pending, 1);
        assert_eq!(take(&pending), Some(1));
        let turn = pending.begin_sync(1);
        pending.begin_publish(&turn);
        push(&pending, OVERLAP_JOBS - 1);
        assert_eq!(take(&pending), None, "no other thread is woken for so few");
        pending.end_publish(turn);
        assert_eq!(take(&pending), Some(OVERLAP_JOBS - 1));
    }

    #[test]
    fn few_wait_for_the_sync_and_many_are_shared_out() {
        let pending = PendingCommits::default();
        push(&pending, 16);
        assert_eq!(take(&pending), Some(16));
        let first = pending.begin_sync(16);
        push(&pending, OVERLAP_JOBS - 1);
        assert_eq!(take(&pending), None);
        push(&pending, 47 - OVERLAP_JOBS);
        assert_eq!(take(&pending), Some(21), "a third of all there is");
        let second = pending.begin_sync(21);
        assert_eq!(take(&pending), Some(21));
        let third = pending.begin_sync(21);
        for turn in [first, second, third] {
            pending.begin_publish(&turn);
            pending.end_publish(turn);
        }
        assert_eq!(take(&pending), Some(4), "nothing is under way: all");
    }

    #[test]
    fn what_waits_at_the_end_is_taken_first() {
        let pending = PendingCommits::default();
        push(&pending, 1);
        assert_eq!(take(&pending), Some(1));
        let _turn = pending.begin_sync(1);
        push(&pending, 1);
        pending.end(Ended::Closed);
        assert_eq!(take(&pending), Some(1), "one is enough");
        assert!(matches!(pending.take(None), Taken::Ended(Ended::Closed)));
    }
}
