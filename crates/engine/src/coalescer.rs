//! The committer: one thread that turns whatever waits into one atomic, durable group.
//!
//! Members are judged in order, each against everything accepted before it, so members on the same key
//! behave as if they had come one after another. A refused member does not hurt its neighbours; it learns
//! of the refusal only after the group is published, so that its next reading sees the winner.

use crate::core::Core;
use crate::error::EngineError;
use crate::key::Key;
use crate::queue::{Ended, Job, Queue, Refusal, Taken};
use crate::store::{Group, Snapshot};
use crate::txn::{Commit, Expect, Txn, Version, Write};
use crate::window::{Last, Window};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often the superblock is written while there is something new to note.
const NOTE_EVERY: Duration = Duration::from_secs(1);

const SYNC_FAILED: &str = "a write to stable storage failed";

pub(crate) struct Committer {
    core: Arc<Core>,
    queue: Arc<Queue>,
    window: Window,
    /// The last sequence number that was published.
    seq: u64,
}

/// A group that is being built: what was accepted so far.
struct Building {
    group: Group,
    publish: Vec<crate::ChunkId>,
    release: Vec<crate::ChunkId>,
}

type Verdict = Result<Commit, Refusal>;

impl Committer {
    pub fn new(core: Arc<Core>, queue: Arc<Queue>) -> Self {
        let seq = core.published.get().seq();
        Self { core, queue, window: Window::new(seq), seq }
    }

    /// Runs until the queue ends. True after a clean stop.
    pub fn run(mut self) -> bool {
        let mut noted = Instant::now();
        let mut dirty = false;
        loop {
            let patience = dirty.then(|| NOTE_EVERY.saturating_sub(noted.elapsed()));
            match self.queue.take(patience) {
                Taken::Group(jobs) => {
                    self.commit(jobs);
                    dirty = true;
                }
                Taken::Idle => {}
                Taken::Ended(Ended::Dropped) => return false,
                Taken::Ended(Ended::Closed) => return self.note(true),
            }
            if dirty && noted.elapsed() >= NOTE_EVERY {
                self.note(false);
                noted = Instant::now();
                dirty = false;
            }
        }
    }

    fn note(&self, clean: bool) -> bool {
        if self.core.stopped().is_some() {
            return false;
        }
        let noted = self.core.store.note(self.seq, self.core.clock.now(), clean);
        if noted.is_err() {
            self.core.stop(SYNC_FAILED);
        }
        noted.is_ok()
    }

    fn commit(&mut self, jobs: Vec<Job>) {
        let (txns, replies): (Vec<_>, Vec<_>) =
            jobs.into_iter().map(|job| ((job.txn, job.snapshot), job.reply)).unzip();
        let verdicts = self.decide(&txns);
        self.window.trim();
        for (reply, verdict) in replies.into_iter().zip(verdicts) {
            // Whoever no longer waits does not mind.
            let _ = reply.send(verdict);
        }
    }

    fn decide(&mut self, txns: &[(Txn, Option<u64>)]) -> Vec<Verdict> {
        match self.try_group(txns) {
            Ok(verdicts) => verdicts,
            Err(error) => match txns {
                [_] => vec![Err(Refusal::Error(error))],
                // One member asked for something impossible: alone, each gets its own answer.
                _ => txns.chunks(1).flat_map(|txn| self.decide(txn)).collect(),
            },
        }
    }

    /// An error means that nothing was written, and that no member was committed.
    fn try_group(&mut self, txns: &[(Txn, Option<u64>)]) -> Result<Vec<Verdict>, EngineError> {
        if let Some(reason) = self.core.stopped() {
            return Ok(refuse_all(txns, &EngineError::Unavailable(reason)));
        }
        let now = self.core.clock.now();
        let published = self.core.published.get();
        let group = Group { first: self.seq + 1, last: self.seq, now, ids: vec![], writes: vec![] };
        let mut building = Building { group, publish: vec![], release: vec![] };
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(txns.len());
        for (txn, snapshot) in txns {
            let verdict = self.judge(txn, *snapshot, &published);
            verdicts.push(verdict.map(|()| self.accept(txn, &mut building)));
        }
        let Building { mut group, publish, release } = building;
        if group.writes.is_empty() && publish.is_empty() && release.is_empty() {
            return Ok(verdicts);
        }
        if let Err(error) = self.bytes(&mut group, &publish, &release, &published) {
            self.core.extents.aborted(&publish);
            // The window has seen writes that will not happen.
            self.window = Window::new(self.seq);
            if self.core.stopped().is_none() {
                return Err(error);
            }
            return Ok(refuse_all(txns, &error));
        }
        let last = group.last;
        let ids = std::mem::take(&mut group.ids);
        group.ids.clone_from(&ids);
        let first = group.first;
        if let Err(error) = self.core.store.apply(group) {
            tracing::error!(%error, "commit failed; the engine stops");
            self.core.stop(SYNC_FAILED);
            return Ok(verdicts
                .into_iter()
                .map(|verdict| verdict.and(Err(Refusal::Error(EngineError::Unknown))))
                .collect());
        }
        self.seq = last;
        self.core.groups.fetch_add(1, Ordering::Relaxed);
        {
            let mut recent = self.core.recent.lock();
            for (seq, id) in (first..).zip(ids) {
                recent.insert(id, seq, now);
            }
        }
        self.core.published.set(self.core.store.snapshot(last));
        // After publishing: who pins first and then opens a reader never sees a chunk that is already given back.
        self.core.extents.committed(&publish, &release);
        Ok(verdicts)
    }

    /// Bytes before rows: syncs the chunks and adds the rows that point to them.
    fn bytes(
        &self,
        group: &mut Group,
        publish: &[crate::ChunkId],
        release: &[crate::ChunkId],
        published: &Snapshot,
    ) -> Result<(), EngineError> {
        if publish.is_empty() && release.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.core.extents.sync(publish) {
            tracing::error!(%error, "sync of an extent failed; the engine stops");
            self.core.stop(SYNC_FAILED);
            return Err(EngineError::Unavailable(SYNC_FAILED));
        }
        let lookup = |key: &[u8]| Ok(published.get(key)?.map(|(_, value)| value));
        let rows = self.core.extents.rows(publish, release, &lookup)?;
        group.writes.extend(rows.into_iter().map(|row| (group.last, row)));
        Ok(())
    }

    fn judge(&self, txn: &Txn, snapshot: Option<u64>, published: &Snapshot) -> Result<(), Refusal> {
        if txn.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(Refusal::Error(EngineError::Unavailable("deadline passed")));
        }
        let covered = snapshot.is_some_and(|seq| self.window.covers(seq));
        for (key, expect) in &txn.checks {
            let current = match self.window.get(key) {
                Some(last) => last.present.then_some(last.seq),
                None if covered => continue,
                None => published.get(key).map_err(Refusal::Error)?.map(|(seq, _)| seq),
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

    fn accept(&mut self, txn: &Txn, building: &mut Building) -> Commit {
        let Building { group, publish, release } = building;
        group.last += 1;
        let seq = group.last;
        group.ids.push(txn.id);
        for write in &txn.writes {
            let (key, present): (&Key, bool) = match write {
                Write::Put(key, _) => (key, true),
                Write::Delete(key) => (key, false),
            };
            // A key stands in a group once, with its last write.
            let earlier = self.window.get(key).filter(|last| last.seq >= group.first).map(|last| last.slot);
            let slot = earlier.unwrap_or(group.writes.len());
            match group.writes.get_mut(slot) {
                Some(place) => *place = (seq, write.clone()),
                None => group.writes.push((seq, write.clone())),
            }
            self.window.insert(key.clone(), Last { seq, present, slot });
        }
        publish.extend_from_slice(&txn.publish);
        release.extend_from_slice(&txn.release);
        Commit { version: Version(u128::from(seq)), now: group.now }
    }
}

fn refuse_all(txns: &[(Txn, Option<u64>)], error: &EngineError) -> Vec<Verdict> {
    txns.iter().map(|_| Err(Refusal::Error(error.clone()))).collect()
}
