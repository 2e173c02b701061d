//! The first stage of a commit: a group is judged and written, and not yet durable.
//!
//! Members are judged in order, each against everything accepted before it, so members on the same key
//! behave as if they had come one after another. A refused member does not hurt its neighbours.

use crate::error::{EngineError, Refusal};
use crate::key::Key;
use crate::local::commit::committer::SYNC_FAILED;
use crate::local::extent::UnderWay;
use crate::local::shared::Shared;

use crate::local::commit::notify::Verdict;
use crate::local::commit::recent_writes::{Last, RecentWrites};
use crate::local::store::{Group, Snapshot, sequence, version};
use crate::txn::{ChunkId, Commit, ExpectedVersion, RangeCheck, Stamp, Txn, Write};
use std::sync::Arc;
use std::time::Instant;

pub(crate) struct Judge {
    shared: Arc<Shared>,
    recent_writes: RecentWrites,
    /// Everything written so far, also what is not yet durable.
    written: Arc<Snapshot>,
}

pub(crate) struct Judged {
    pub verdicts: Vec<Verdict>,
    /// What was written, if anything was.
    pub written: Option<WrittenGroup>,
}

/// A group in the log.
pub(crate) struct WrittenGroup {
    pub group: Group,
    /// What readers see once the group is durable; `None` when writing it failed.
    pub snapshot: Option<Arc<Snapshot>>,
    pub publish: Vec<ChunkId>,
    pub release: Vec<ChunkId>,
    pub under_way: UnderWay,
}

/// A group that is being built: what was accepted so far.
struct GroupBuilder {
    group: Group,
    publish: Vec<ChunkId>,
    release: Vec<ChunkId>,
}

impl Judge {
    pub fn new(shared: Arc<Shared>) -> Self {
        let written = shared.published.get();
        Self { shared, recent_writes: RecentWrites::new(written.seq()), written }
    }

    /// An error means that nothing was written, and that no member was accepted: they may be tried again. What was
    /// accepted has lost its writes.
    pub fn write(&mut self, txns: &mut [(Txn, Option<Stamp>)]) -> Result<Judged, EngineError> {
        if let Some(reason) = self.shared.stopped() {
            let verdicts = refuse_all(txns, &EngineError::Unavailable(reason));
            return Ok(Judged { verdicts, written: None });
        }
        let now = self.shared.clock.now();
        let before = self.written.seq();
        let group = Group { first: before + 1, last: before, now, ids: vec![], writes: vec![] };
        let mut builder = GroupBuilder { group, publish: vec![], release: vec![] };
        // Only bytes can fail before anything is written.
        let again = txns.iter().any(|(txn, _)| !txn.publish.is_empty() || !txn.release.is_empty());
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(txns.len());
        for (txn, read_at) in &mut *txns {
            let verdict = self.judge(txn, *read_at).map(|()| {
                let taken = |writes: &mut Vec<Write>| {
                    if again { writes.clone() } else { std::mem::take(writes) }
                };
                let (writes, private) = (taken(&mut txn.writes), taken(&mut txn.private_writes));
                self.accept(txn, writes, private, &mut builder)
            });
            verdicts.push(verdict);
        }
        let GroupBuilder { mut group, publish, release } = builder;
        if group.writes.is_empty() && publish.is_empty() && release.is_empty() {
            return Ok(Judged { verdicts, written: None });
        }
        let under_way = match self.bytes(&mut group, &publish, &release) {
            Ok(under_way) => under_way,
            Err(error) => {
                self.shared.extents.aborted(&publish);
                // `recent_writes` has seen writes that will not happen.
                self.recent_writes = RecentWrites::new(before);
                if self.shared.stopped().is_none() {
                    return Err(error);
                }
                return Ok(Judged { verdicts: refuse_all(txns, &error), written: None });
            }
        };
        let snapshot = match self.shared.store.apply(&group) {
            Ok(()) => {
                self.written = Arc::new(self.shared.store.snapshot(group.last));
                Some(self.written.clone())
            }
            Err(error) => {
                tracing::error!(%error, "a group could not be written; the engine stops");
                // Before another group is written behind it: the next group would take its sequence numbers.
                self.shared.stop(SYNC_FAILED);
                None
            }
        };
        self.recent_writes.trim();
        Ok(Judged { verdicts, written: Some(WrittenGroup { group, snapshot, publish, release, under_way }) })
    }

    /// Bytes before rows: syncs the chunks and adds the rows that point to them.
    fn bytes(
        &self,
        group: &mut Group,
        publish: &[ChunkId],
        release: &[ChunkId],
    ) -> Result<UnderWay, EngineError> {
        if publish.is_empty() && release.is_empty() {
            return Ok(UnderWay::default());
        }
        if let Err(error) = self.shared.extents.sync(publish) {
            tracing::error!(%error, "sync of an extent failed; the engine stops");
            self.shared.stop(SYNC_FAILED);
            return Err(EngineError::Unavailable(SYNC_FAILED));
        }
        let lookup = |key: &[u8]| Ok(self.written.get_latest(key)?.map(|(_, value)| value));
        let (rows, under_way) = self.shared.extents.rows(publish, release, &lookup)?;
        group.writes.extend(rows.into_iter().map(|row| (group.last, row)));
        Ok(under_way)
    }

    fn judge(&self, txn: &Txn, read_at: Option<Stamp>) -> Result<(), Refusal> {
        if txn.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(Refusal::Error(EngineError::Unavailable("deadline passed")));
        }
        let read_at = read_at.and_then(|stamp| sequence(stamp.version));
        let covered = read_at.is_some_and(|seq| self.recent_writes.covers(seq));
        for (key, expect) in &txn.checks {
            let current = match self.recent_writes.get(key) {
                Some(last)
                    if !last.present && read_at.is_some_and(|seq| last.seq > seq) && writes(txn, key) =>
                {
                    return Err(self.conflict(key));
                }
                Some(last) => last.present.then_some(last.seq),
                None if covered => continue,
                // Whether it was there meanwhile is not known any more; a fresh snapshot will be young enough.
                None if read_at.is_some() && *expect == ExpectedVersion::Absent && writes(txn, key) => {
                    return Err(self.conflict(key));
                }
                None => self.written.get_latest(key).map_err(Refusal::Error)?.map(|(seq, _)| seq),
            };
            let expected = match expect {
                ExpectedVersion::Version(version) => Some(*version),
                ExpectedVersion::Absent => None,
            };
            if current.map(version) != expected {
                return Err(self.conflict(key));
            }
        }
        for RangeCheck { range, since, .. } in &txn.range_checks {
            let written = sequence(since.version).ok_or(());
            match written.and_then(|seq| self.recent_writes.written_since(range, seq)) {
                Ok(None) => {}
                Ok(Some(key)) => return Err(self.conflict(key)),
                // Too old to know; a fresh snapshot will be young enough.
                Err(()) => return Err(Refusal::Conflict(range.start.clone())),
            }
        }
        if !txn.publish.is_empty() && !self.shared.extents.claim(&txn.publish) {
            return Err(Refusal::Error(EngineError::Unavailable("chunk was given up")));
        }
        Ok(())
    }

    fn conflict(&self, key: &Key) -> Refusal {
        debug_assert!(
            !self.recent_writes.get(key).is_some_and(|last| last.private),
            "a transaction checked a key that another one wrote as private: {key:?}"
        );
        Refusal::Conflict(key.clone())
    }

    fn accept(
        &mut self,
        txn: &Txn,
        writes: Vec<Write>,
        private: Vec<Write>,
        builder: &mut GroupBuilder,
    ) -> Commit {
        let GroupBuilder { group, publish, release } = builder;
        group.last += 1;
        let seq = group.last;
        group.ids.push(txn.id);
        let writes = writes.into_iter().map(|write| (write, false));
        for (write, private) in writes.chain(private.into_iter().map(|write| (write, true))) {
            let (key, present): (&Key, bool) = match &write {
                Write::Put(key, _) => (key, true),
                Write::Delete(key) | Write::DeleteWithoutTrace(key) => (key, false),
            };
            let last = Last { seq, present, private, slot: group.writes.len() };
            // A key stands in a group once, with its last write.
            let slot = self.recent_writes.insert(key.clone(), last, group.first);
            match group.writes.get_mut(slot) {
                Some(place) => *place = (seq, write),
                None => group.writes.push((seq, write)),
            }
        }
        publish.extend_from_slice(&txn.publish);
        release.extend_from_slice(&txn.release);
        Commit { version: version(seq), now: group.now }
    }
}

fn writes(txn: &Txn, key: &Key) -> bool {
    txn.writes.iter().any(|write| write.key() == key)
}

pub(crate) fn refuse_all(txns: &[(Txn, Option<Stamp>)], error: &EngineError) -> Vec<Verdict> {
    txns.iter().map(|_| Err(Refusal::Error(error.clone()))).collect()
}
