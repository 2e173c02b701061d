//! Transactions that wait for a lane, and what is under way.
//!
//! A group is made of members that are independent of each other, and of the groups of this server that are under way: no
//! member writes what another checks or writes. Whatever would depend waits for the next group.

use super::member::Member;
use crate::error::{EngineError, Refusal};
use crate::key::Key;
use crate::txn::{TxnId, Version};
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};

/// A group takes what waits, up to these.
const GROUP_MEMBERS: usize = 256;
const GROUP_BYTES: usize = 1 << 20;
pub(super) const GROUP_LOCKS: usize = 2_000;
/// Transactions that are looked at for one group.
const LOOKED_AT: usize = 1_024;
/// Few lanes with large groups cost less than many with small ones: those behind the first two work when so many wait.
const FEW_LANES: usize = 2;
const CROWD: usize = 64;
/// Beyond these, a transaction is turned away at once.
const WAITING_MEMBERS: usize = 65_536;
const WAITING_BYTES: usize = 64 << 20;

type Keys = HashSet<Key, RandomState>;
/// The keys that a group wrote, and with which version; `None` when it deleted them.
pub(super) type Written = HashMap<Key, Option<Version>, RandomState>;

pub(super) struct Queue {
    state: Mutex<State>,
    lanes: Vec<Notify>,
    /// Changes when members were answered.
    settled: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Member>,
    bytes: usize,
    /// Keys that groups under way have to themselves.
    writing: Keys,
    /// All that were queued and are not yet answered.
    open: HashSet<TxnId, RandomState>,
    /// Which lanes wait for work.
    idle: Vec<bool>,
    ended: bool,
}

impl Queue {
    pub fn new(lanes: usize) -> Self {
        let state = State { idle: vec![false; lanes], ..State::default() };
        Self {
            state: Mutex::new(state),
            lanes: (0..lanes).map(|_| Notify::new()).collect(),
            settled: watch::Sender::new(()),
        }
    }

    pub fn len(&self) -> usize {
        self.state.lock().waiting.len()
    }

    /// Also returns members that are out of the queue because their callers have given them up: they are to be refused.
    pub fn push(&self, member: Member) -> (Result<(), Refusal>, Vec<Member>) {
        let refused = |why| Err(Refusal::Error(EngineError::Unavailable(why)));
        let mut state = self.state.lock();
        if state.ended {
            return (refused("shutting down"), Vec::new());
        }
        let forgotten = if state.is_full(member.size) { state.forget_given_up() } else { Vec::new() };
        if state.is_full(member.size) {
            return (refused("overloaded"), forgotten);
        }
        state.bytes += member.size;
        state.open.insert(member.id);
        state.waiting.push_back(member);
        self.wake(&mut state);
        (Ok(()), forgotten)
    }

    /// Wakes a lane that may take what waits.
    fn wake(&self, state: &mut State) {
        if state.waiting.is_empty() {
            return;
        }
        let lanes = if state.waiting.len() > CROWD { self.lanes.len() } else { FEW_LANES };
        let idle = state.idle.iter_mut().zip(&self.lanes).take(lanes).find(|(idle, _)| **idle);
        if let Some((idle, lane)) = idle {
            *idle = false;
            lane.notify_one();
        }
    }

    /// Returns when this lane may find work; false at the end, when nothing waits any more.
    pub async fn wanted(&self, lane: usize) -> bool {
        let Some(notify) = self.lanes.get(lane) else { return false };
        loop {
            {
                let mut state = self.state.lock();
                let enough = if lane < FEW_LANES { 0 } else { CROWD };
                if state.waiting.len() > enough {
                    return true;
                }
                if state.ended && (lane >= FEW_LANES || state.waiting.is_empty()) {
                    return false;
                }
                if let Some(idle) = state.idle.get_mut(lane) {
                    *idle = true;
                }
            }
            notify.notified().await;
        }
    }

    /// A group of what waits, and those for whom it is too late. When there is neither, all that waits depends on what is
    /// under way, and the lane waits for [`Self::woken`].
    pub fn take(&self, lane: usize) -> Taken {
        let mut state = self.state.lock();
        let state = &mut *state;
        let now = Instant::now();
        let (mut group, mut late) = (Group::default(), Vec::new());
        let mut left = VecDeque::new();
        for _ in 0..LOOKED_AT {
            let Some(mut member) = state.waiting.pop_front() else { break };
            if member.stage.is_given_up() || member.until <= now {
                state.bytes -= member.size;
                state.open.remove(&member.id);
                late.push(member);
                continue;
            }
            if group.is_full(&member) {
                left.push_back(member);
                break;
            }
            let depends = depends(&member, &state.writing);
            member.held_back |= depends;
            if depends || !group.is_independent(&member) || !member.stage.send() {
                left.push_back(member);
                continue;
            }
            state.bytes -= member.size;
            group.add(member);
        }
        while let Some(member) = left.pop_back() {
            state.waiting.push_front(member);
        }
        state.writing.extend(group.members.iter().flat_map(Member::alone).cloned());
        if group.members.is_empty()
            && late.is_empty()
            && let Some(idle) = state.idle.get_mut(lane)
        {
            *idle = true;
        }
        Taken { group: group.members, late }
    }

    /// Those for whom it is too late, while nothing can be sent, and those who have waited for that long.
    pub fn take_late(&self, patience: Duration) -> Taken {
        let mut state = self.state.lock();
        let state = &mut *state;
        let now = Instant::now();
        let (mut late, mut left) = (Vec::new(), VecDeque::with_capacity(state.waiting.len()));
        while let Some(member) = state.waiting.pop_front() {
            if member.stage.is_given_up() || member.until.min(member.queued + patience) <= now {
                state.bytes -= member.size;
                state.open.remove(&member.id);
                late.push(member);
            } else {
                left.push_back(member);
            }
        }
        state.waiting = left;
        Taken { group: Vec::new(), late }
    }

    pub fn is_ended(&self) -> bool {
        self.state.lock().ended
    }

    pub async fn woken(&self, lane: usize) {
        if let Some(notify) = self.lanes.get(lane) {
            notify.notified().await;
        }
    }

    /// A group was committed or refused: what depended on it may go on. Those who checked what it has now written have
    /// lost, and are returned.
    pub fn done(&self, members: &[Member], written: &Written) -> Vec<(Member, Key)> {
        let mut state = self.state.lock();
        let state = &mut *state;
        for member in members {
            state.open.remove(&member.id);
            for key in member.alone() {
                state.writing.remove(key);
            }
        }
        let mut lost = Vec::new();
        if state.waiting.iter().any(|member| member.held_back) {
            let mut left = VecDeque::with_capacity(state.waiting.len());
            while let Some(member) = state.waiting.pop_front() {
                match member.held_back.then(|| loses_to(&member, written)).flatten() {
                    Some(key) if member.stage.send() => {
                        state.bytes -= member.size;
                        state.open.remove(&member.id);
                        lost.push((member, key));
                    }
                    _ => left.push_back(member),
                }
            }
            state.waiting = left;
        }
        self.wake(state);
        lost
    }

    /// Members that were not committed, and never will be by what was sent, wait again.
    pub fn put_back(&self, members: Vec<Member>) -> Vec<Member> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let mut given_up = Vec::new();
        for member in members.into_iter().rev() {
            for key in member.alone() {
                state.writing.remove(key);
            }
            if member.stage.put_back() {
                state.bytes += member.size;
                state.waiting.push_front(member);
            } else {
                state.open.remove(&member.id);
                given_up.push(member);
            }
        }
        self.wake(state);
        given_up
    }

    /// To be told once members were answered, after [`Self::done`] or [`Self::put_back`].
    pub fn tell_settled(&self) {
        if self.settled.receiver_count() > 0 {
            self.settled.send_replace(());
        }
    }

    /// Returns when the transaction is neither waiting nor under way.
    pub async fn settled(&self, id: TxnId) {
        let mut settled = self.settled.subscribe();
        while self.state.lock().open.contains(&id) {
            if settled.changed().await.is_err() {
                return;
            }
        }
    }

    /// Nothing more is taken in; lanes end when nothing waits.
    pub fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        state.idle.fill(false);
        drop(state);
        for lane in &self.lanes {
            lane.notify_one();
        }
    }

    /// Returns when everything was answered.
    pub async fn drained(&self) {
        let mut settled = self.settled.subscribe();
        while !self.state.lock().open.is_empty() {
            if settled.changed().await.is_err() {
                return;
            }
        }
    }
}

impl State {
    fn is_full(&self, more: usize) -> bool {
        self.waiting.len() >= WAITING_MEMBERS || self.bytes + more > WAITING_BYTES
    }

    fn forget_given_up(&mut self) -> Vec<Member> {
        let all = std::mem::take(&mut self.waiting);
        let (forgotten, waiting): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|member| member.stage.is_given_up());
        self.waiting = waiting.into();
        for member in &forgotten {
            self.bytes -= member.size;
            self.open.remove(&member.id);
        }
        forgotten
    }
}

fn depends(member: &Member, writing: &Keys) -> bool {
    !writing.is_empty()
        && (member.checks.iter().any(|check| writing.contains(&check.key))
            || member.alone().any(|key| writing.contains(key)))
}

fn loses_to(member: &Member, written: &Written) -> Option<Key> {
    let lost = member
        .checks
        .iter()
        .find(|check| written.get(&check.key).is_some_and(|version| *version != check.expected));
    lost.map(|check| check.key.clone())
}

pub(super) struct Taken {
    pub group: Vec<Member>,
    pub late: Vec<Member>,
}

#[derive(Default)]
struct Group {
    members: Vec<Member>,
    bytes: usize,
    locks: usize,
    checked: Keys,
    alone: Keys,
}

impl Group {
    fn is_full(&self, member: &Member) -> bool {
        !self.members.is_empty()
            && (self.members.len() >= GROUP_MEMBERS
                || self.bytes + member.size > GROUP_BYTES
                || self.locks + member.locks() > GROUP_LOCKS)
    }

    fn is_independent(&self, member: &Member) -> bool {
        self.members.is_empty()
            || !(member.checks.iter().any(|check| self.alone.contains(&check.key))
                || member.alone().any(|key| self.alone.contains(key) || self.checked.contains(key))
                || member.private.iter().any(|change| self.alone.contains(&change.key)))
    }

    fn add(&mut self, member: Member) {
        self.bytes += member.size;
        self.locks += member.locks();
        self.checked.extend(member.checks.iter().map(|check| check.key.clone()));
        self.alone.extend(member.alone().cloned());
        self.alone.extend(member.private.iter().map(|change| change.key.clone()));
        self.members.push(member);
    }
}
