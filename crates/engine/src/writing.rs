//! The first stage of a commit: a group is judged and written, and not yet durable.
//!
//! Members are judged in order, each against everything accepted before it, so members on the same key
//! behave as if they had come one after another. A refused member does not hurt its neighbours.

use crate::coalescer::SYNC_FAILED;
use crate::core::Core;
use crate::error::EngineError;
use crate::extent::UnderWay;
use crate::key::Key;
use crate::queue::Refusal;
use crate::reply::Verdict;
use crate::store::{Group, Snapshot};
use crate::txn::{ChunkId, Commit, Expect, Txn, Version, Write};
use crate::window::{Last, Window};
use std::sync::Arc;
use std::time::Instant;

pub(crate) struct Writing {
    core: Arc<Core>,
    window: Window,
    /// Everything written so far, also what is not yet durable.
    written: Arc<Snapshot>,
}

pub(crate) struct Written {
    pub verdicts: Vec<Verdict>,
    /// What was written, if anything was.
    pub made: Option<Made>,
}

/// A group in the log.
pub(crate) struct Made {
    pub group: Group,
    /// What readers see once the group is durable; `None` when writing it failed.
    pub snapshot: Option<Arc<Snapshot>>,
    pub publish: Vec<ChunkId>,
    pub release: Vec<ChunkId>,
    pub under_way: UnderWay,
}

/// A group that is being built: what was accepted so far.
struct Building {
    group: Group,
    publish: Vec<ChunkId>,
    release: Vec<ChunkId>,
}

impl Writing {
    pub fn new(core: Arc<Core>) -> Self {
        let written = core.published.get();
        Self { core, window: Window::new(written.seq()), written }
    }

    /// An error means that nothing was written, and that no member was accepted: they may be tried again. What was
    /// accepted has lost its writes.
    pub fn write(&mut self, txns: &mut [(Txn, Option<u64>)]) -> Result<Written, EngineError> {
        if let Some(reason) = self.core.stopped() {
            let verdicts = refuse_all(txns, &EngineError::Unavailable(reason));
            return Ok(Written { verdicts, made: None });
        }
        let now = self.core.clock.now();
        let before = self.written.seq();
        let group = Group { first: before + 1, last: before, now, ids: vec![], writes: vec![] };
        let mut building = Building { group, publish: vec![], release: vec![] };
        // Only bytes can fail before anything is written.
        let again = txns.iter().any(|(txn, _)| !txn.publish.is_empty() || !txn.release.is_empty());
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(txns.len());
        for (txn, snapshot) in &mut *txns {
            let verdict = self.judge(txn, *snapshot).map(|()| {
                let writes = if again { txn.writes.clone() } else { std::mem::take(&mut txn.writes) };
                self.accept(txn, writes, &mut building)
            });
            verdicts.push(verdict);
        }
        let Building { mut group, publish, release } = building;
        if group.writes.is_empty() && publish.is_empty() && release.is_empty() {
            return Ok(Written { verdicts, made: None });
        }
        let under_way = match self.bytes(&mut group, &publish, &release) {
            Ok(under_way) => under_way,
            Err(error) => {
                self.core.extents.aborted(&publish);
                // The window has seen writes that will not happen.
                self.window = Window::new(before);
                if self.core.stopped().is_none() {
                    return Err(error);
                }
                return Ok(Written { verdicts: refuse_all(txns, &error), made: None });
            }
        };
        let snapshot = match self.core.store.apply(&group) {
            Ok(()) => {
                self.written = Arc::new(self.core.store.snapshot(group.last));
                Some(self.written.clone())
            }
            Err(error) => {
                tracing::error!(%error, "a group could not be written; the engine stops");
                // Before anybody writes behind it: the next group would take its sequence numbers.
                self.core.stop(SYNC_FAILED);
                None
            }
        };
        self.window.trim();
        Ok(Written { verdicts, made: Some(Made { group, snapshot, publish, release, under_way }) })
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
        if let Err(error) = self.core.extents.sync(publish) {
            tracing::error!(%error, "sync of an extent failed; the engine stops");
            self.core.stop(SYNC_FAILED);
            return Err(EngineError::Unavailable(SYNC_FAILED));
        }
        let lookup = |key: &[u8]| Ok(self.written.get_applied(key)?.map(|(_, value)| value));
        let (rows, under_way) = self.core.extents.rows(publish, release, &lookup)?;
        group.writes.extend(rows.into_iter().map(|row| (group.last, row)));
        Ok(under_way)
    }

    fn judge(&self, txn: &Txn, snapshot: Option<u64>) -> Result<(), Refusal> {
        if txn.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(Refusal::Error(EngineError::Unavailable("deadline passed")));
        }
        let covered = snapshot.is_some_and(|seq| self.window.covers(seq));
        for (key, expect) in &txn.checks {
            let current = match self.window.get(key) {
                Some(last) => last.present.then_some(last.seq),
                None if covered => continue,
                None => self.written.get_applied(key).map_err(Refusal::Error)?.map(|(seq, _)| seq),
            };
            let expected = match expect {
                Expect::Version(Version(version)) => Some(*version),
                Expect::Absent => None,
            };
            if current.map(u128::from) != expected {
                return Err(Refusal::Conflict(key.clone()));
            }
        }
        for (range, since) in &txn.range_checks {
            match self.window.written_since(range, since.version) {
                Ok(None) => {}
                Ok(Some(key)) => return Err(Refusal::Conflict(key.clone())),
                // Too old to know; a fresh snapshot will be young enough.
                Err(()) => return Err(Refusal::Conflict(range.start.clone())),
            }
        }
        if !txn.publish.is_empty() && !self.core.extents.claim(&txn.publish) {
            return Err(Refusal::Error(EngineError::Unavailable("chunk was given up")));
        }
        Ok(())
    }

    fn accept(&mut self, txn: &Txn, writes: Vec<Write>, building: &mut Building) -> Commit {
        let Building { group, publish, release } = building;
        group.last += 1;
        let seq = group.last;
        group.ids.push(txn.id);
        for write in writes {
            let (key, present): (&Key, bool) = match &write {
                Write::Put(key, _) => (key, true),
                Write::Delete(key) => (key, false),
            };
            let last = Last { seq, present, slot: group.writes.len() };
            // A key stands in a group once, with its last write.
            let slot = self.window.insert(key.clone(), last, group.first);
            match group.writes.get_mut(slot) {
                Some(place) => *place = (seq, write),
                None => group.writes.push((seq, write)),
            }
        }
        publish.extend_from_slice(&txn.publish);
        release.extend_from_slice(&txn.release);
        Commit { version: Version(u128::from(seq)), now: group.now }
    }
}

pub(crate) fn refuse_all(txns: &[(Txn, Option<u64>)], error: &EngineError) -> Vec<Verdict> {
    txns.iter().map(|_| Err(Refusal::Error(error.clone()))).collect()
}
