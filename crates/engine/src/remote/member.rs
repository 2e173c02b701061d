//! A transaction on its way: what the database has to be told of it, worked out before it is queued.

use super::clock::RemoteClock;
use super::long_key::{index_key, is_long, lower, upper};
use crate::backend::Submission;
use crate::bounds::visible;
use crate::error::Refusal;
use crate::key::{Key, Value};
use crate::txn::{ChunkId, Commit, ExpectedVersion, Ticks, Txn, TxnId, Version, Write};
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;
use tokio::sync::oneshot;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Rows of chunks that are published, and of those that were given back and wait to be deleted.
pub(super) const CHUNK_ROW: &[u8] = b"\0c";
/// What was given back, and since when (eight bytes).
pub(super) const DOOMED_ROW: &[u8] = b"\0d";

pub(super) struct Member {
    pub id: TxnId,
    pub size: usize,
    pub queued: Instant,
    /// It is not committed after this.
    pub until: Instant,
    pub checks: Vec<Check>,
    pub ranges: Vec<Range>,
    /// Each key once.
    pub writes: Vec<Change>,
    /// Rows that no other transaction can be checking; they take no lock.
    pub private: Vec<Change>,
    pub publish: Vec<ChunkId>,
    pub release: Vec<ChunkId>,
    pub stage: Arc<Stage>,
    pub reply: oneshot::Sender<Result<Commit, Refusal>>,
    /// A group of this server that was under way wrote something that this one checks or writes.
    pub held_back: bool,
}

pub(super) struct Check {
    pub key: Key,
    pub index_key: Key,
    pub expected: Option<Version>,
    /// Set for a key that the transaction makes: when its attempt first read. The commit is refused if the key was deleted later.
    pub absent_since: Option<Ticks>,
}

pub(super) struct Range {
    pub from: Key,
    pub to: Key,
    /// Without one it does not pass.
    pub digest: Option<u128>,
    pub guard: Key,
}

pub(super) struct Change {
    pub key: Key,
    pub index_key: Key,
    /// `None` deletes.
    pub value: Option<Value>,
    /// When the key was deleted is noted in `gone`.
    pub leaves_trace: bool,
}

impl Change {
    fn of(write: Write) -> Self {
        let (key, value, leaves_trace) = match write {
            Write::Put(key, value) => (key, Some(value), false),
            Write::Delete(key) => (key, None, true),
            Write::DeleteWithoutTrace(key) => (key, None, false),
        };
        Self { index_key: index_key(&key), key, value, leaves_trace }
    }

    fn own(row: &[u8], id: ChunkId, value: Option<Value>) -> Self {
        let key = Key::from([row, &id.0.to_be_bytes()].concat());
        Self { index_key: key.clone(), key, value, leaves_trace: false }
    }

    /// The whole key, where the index key is not.
    pub fn whole(&self) -> Option<&[u8]> {
        is_long(&self.key).then_some(&self.key[..])
    }
}

/// Whether a lane has it, or its caller has given it up: one of them decides.
#[derive(Default)]
pub(super) struct Stage(AtomicU8);

const WAITS: u8 = 0;
const SENT: u8 = 1;
const GIVEN_UP: u8 = 2;

impl Stage {
    fn turn(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// A lane takes it. False: its caller does not wait any more.
    pub fn send(&self) -> bool {
        self.turn(WAITS, SENT)
    }

    /// A lane puts it back: it was not committed, and never will be by what was sent.
    pub fn put_back(&self) -> bool {
        self.turn(SENT, WAITS)
    }

    /// The caller gives it up. False: it is under way.
    pub fn give_up(&self) -> bool {
        let waited = self.turn(WAITS, GIVEN_UP);
        if !waited {
            self.0.store(GIVEN_UP, Ordering::SeqCst);
        }
        waited
    }

    pub fn is_given_up(&self) -> bool {
        self.0.load(Ordering::SeqCst) == GIVEN_UP
    }
}

/// The version that a transaction writes. A bit is left out, so that there are versions that no transaction has.
pub(super) fn version_of(id: TxnId) -> Version {
    Version(id.0 & !(1 << 64))
}

impl Member {
    pub fn new(
        txn: Txn,
        how: &Submission,
        until: Instant,
        clock: &RemoteClock,
        reply: oneshot::Sender<Result<Commit, Refusal>>,
    ) -> Self {
        let writes = last_of_each(txn.writes);
        // A test may have moved the clock since: then the moment is an earlier one, and the commit is refused rather too often.
        let read_at = how.read_at.map(|stamp| Ticks(stamp.now.0.saturating_sub(clock.offset().0)));
        let puts = writes.iter().filter(|change| change.value.is_some());
        let made: HashSet<&Key, RandomState> = puts.map(|change| &change.key).collect();
        let checks = txn.checks.into_iter().map(|(key, expected)| {
            let (expected, absent_since) = match expected {
                ExpectedVersion::Version(version) => (Some(version), None),
                ExpectedVersion::Absent => (None, read_at.filter(|_| made.contains(&key))),
            };
            Check { index_key: index_key(&key), key, expected, absent_since }
        });
        let checks = checks.collect();
        let ranges = txn.range_checks.into_iter().map(|check| {
            let (from, to) = bounds_of(&check.range);
            Range { from, to, digest: check.digest, guard: check.guard }
        });
        let mut private = last_of_each(txn.private_writes);
        // Nobody can be checking them.
        private.iter_mut().for_each(|change| change.leaves_trace = false);
        private.extend(txn.publish.iter().map(|id| Change::own(CHUNK_ROW, *id, Some(Value::new()))));
        for id in &txn.release {
            private.push(Change::own(CHUNK_ROW, *id, None));
            let since = Value::copy_from_slice(&clock.steady().0.to_be_bytes());
            private.push(Change::own(DOOMED_ROW, *id, Some(since)));
        }
        Self {
            id: txn.id,
            size: how.size,
            queued: Instant::now(),
            until,
            checks,
            ranges: ranges.collect(),
            writes,
            private,
            publish: txn.publish,
            release: txn.release,
            stage: Arc::default(),
            reply,
            held_back: false,
        }
    }

    /// Keys that it must have to itself: those that it writes, and the guards of its ranges.
    pub fn alone(&self) -> impl Iterator<Item = &Key> {
        self.writes.iter().map(|change| &change.key).chain(self.ranges.iter().map(|range| &range.guard))
    }

    pub fn locks(&self) -> usize {
        self.checks.len() + self.writes.len() + self.ranges.len()
    }

    /// Some key, to wait for when it is not known which one was in the way.
    pub fn any_key(&self) -> Key {
        let key = self.checks.first().map(|check| &check.key).or(self.alone().next());
        key.cloned().unwrap_or_default()
    }
}

/// A range of keys as index keys; of a long bound with others of its run.
pub(super) fn bounds_of(range: &crate::key::KeyRange) -> (Key, Key) {
    let range = visible(range);
    (lower(&range.start), upper(range.end.as_ref()))
}

/// The last write of a key counts.
fn last_of_each(writes: Vec<Write>) -> Vec<Change> {
    if writes.len() < 2 {
        return writes.into_iter().map(Change::of).collect();
    }
    let mut places: HashMap<Key, usize, RandomState> = HashMap::default();
    let mut changes: Vec<Change> = Vec::with_capacity(writes.len());
    for write in writes {
        let change = Change::of(write);
        match places.get(&change.key).and_then(|at| changes.get_mut(*at)) {
            Some(earlier) => *earlier = change,
            None => {
                places.insert(change.key.clone(), changes.len());
                changes.push(change);
            }
        }
    }
    changes
}

/// The number of a key's lock. Two keys with the same number wait for each other, and no more. Every server must come to the
/// same number.
pub(super) fn lock_of(key: &[u8], seed: u64) -> i64 {
    xxh3_64_with_seed(key, seed).cast_signed()
}
