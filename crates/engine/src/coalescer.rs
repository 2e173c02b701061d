//! The committer: turns whatever waits into atomic, durable groups.
//!
//! A group passes through three stages: it is written ([`Writing`]: judged, and put into the log), made durable, then
//! published and answered. One is written at a time, and one is published at a time, in the same order. [`GROUPS`]
//! threads carry a group each, so one is written, and synced, while the disk is busy with those before it, if enough
//! wait for it to pay. No more are ever written and not yet durable; the recovery of the log counts on that.
//!
//! A refused member learns of the refusal only after the group is published, so that its next reading sees
//! the winner.

use crate::core::Core;
use crate::error::EngineError;
use crate::queue::{Ended, GROUPS, Job, Queue, Refusal, Taken};
use crate::reply::{Verdict, deliver};
use crate::store::Snapshot;
use crate::writing::{Made, Writing, Written, refuse_all};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often the superblock is written while there is something new to note.
const NOTE_EVERY: Duration = Duration::from_secs(1);

pub(crate) const SYNC_FAILED: &str = "a write to stable storage failed";

pub(crate) struct Committer {
    core: Arc<Core>,
    queue: Arc<Queue>,
    /// For whoever has a group in the first stage.
    writing: Mutex<Writing>,
    notes: Mutex<Notes>,
}

struct Notes {
    last: Instant,
    /// Something was published since.
    due: bool,
}

impl Committer {
    pub fn new(core: Arc<Core>, queue: Arc<Queue>) -> Self {
        let writing = Mutex::new(Writing::new(core.clone()));
        let notes = Mutex::new(Notes { last: Instant::now(), due: false });
        Self { core, queue, writing, notes }
    }

    /// Runs until the queue ends. True after a clean stop.
    pub fn run(&self) -> bool {
        let closed = std::thread::scope(|scope| {
            // Where there are no others, the first does all.
            let name = std::thread::current().name().unwrap_or("committer").to_owned();
            let another =
                || std::thread::Builder::new().name(name.clone()).spawn_scoped(scope, || self.work());
            let others: Vec<_> = (1..GROUPS).map_while(|_| another().ok()).collect();
            let closed = self.work();
            others.into_iter().fold(closed, |closed, other| other.join().unwrap_or(false) && closed)
        });
        closed && self.note(true)
    }

    /// Takes each group it gets through all stages. True when the engine was closed.
    fn work(&self) -> bool {
        let _guard = StopOnPanic(self);
        loop {
            match self.queue.take(self.patience()) {
                Taken::Group(jobs) => self.commit(jobs),
                Taken::Ended(how) => return how == Ended::Closed,
                Taken::Idle => {}
            }
            if self.patience().is_some_and(|patience| patience.is_zero()) {
                self.note(false);
            }
        }
    }

    /// How long the next note can wait; `None` when there is nothing to note.
    fn patience(&self) -> Option<Duration> {
        let notes = self.notes.lock();
        notes.due.then(|| NOTE_EVERY.saturating_sub(notes.last.elapsed()))
    }

    fn note(&self, clean: bool) -> bool {
        if self.core.stopped().is_some() {
            return false;
        }
        let mut notes = self.notes.lock();
        // What is published is durable.
        let seq = self.core.published.get().seq();
        let noted = self.core.store.note(seq, self.core.clock.now(), clean);
        if noted.is_err() {
            self.core.stop(SYNC_FAILED);
        }
        *notes = Notes { last: Instant::now(), due: false };
        noted.is_ok()
    }

    fn commit(&self, jobs: Vec<Job>) {
        let (mut txns, replies): (Vec<_>, Vec<_>) =
            jobs.into_iter().map(|job| ((job.txn, job.snapshot), job.reply)).unzip();
        let mut writing = self.writing.lock();
        let (turn, verdicts) = match writing.write(&mut txns) {
            Ok(Written { verdicts, made }) => {
                drop(writing);
                let turn = self.queue.begin_sync(txns.len());
                let durable = made.map(|made| (self.sync(&made), made));
                self.queue.begin_publish(&turn);
                (turn, self.publish(verdicts, durable))
            }
            Err(error) => {
                // Nothing else is under way then, however many groups this becomes.
                let turn = self.queue.begin_sync(txns.len());
                self.queue.begin_publish(&turn);
                let verdicts = match &txns[..] {
                    [_] => vec![Err(Refusal::Error(error))],
                    // One member asked for something impossible: alone, each gets its own answer.
                    _ => txns.chunks_mut(1).flat_map(|txn| self.alone(txn, &mut writing)).collect(),
                };
                (turn, verdicts)
            }
        };
        self.queue.end_publish(turn);
        deliver(replies.into_iter().zip(verdicts));
    }

    fn alone(&self, txn: &mut [(crate::Txn, Option<u64>)], writing: &mut Writing) -> Vec<Verdict> {
        match writing.write(txn) {
            Ok(Written { verdicts, made }) => {
                self.publish(verdicts, made.map(|made| (self.sync(&made), made)))
            }
            Err(error) => refuse_all(txn, &error),
        }
    }

    /// The second stage: durable. Gives what readers see then.
    fn sync(&self, made: &Made) -> Result<Arc<Snapshot>, EngineError> {
        let durable = match (self.core.stopped(), &made.snapshot) {
            (None, Some(snapshot)) => {
                let begun = Instant::now();
                let synced = self.core.store.sync();
                self.core.syncs.took(begun.elapsed());
                synced.map(|()| snapshot.clone())
            }
            _ => Err(EngineError::Unknown),
        };
        durable.inspect_err(|error| {
            tracing::error!(%error, "commit failed; the engine stops");
            self.core.stop(SYNC_FAILED);
        })
    }

    /// The third: visible.
    fn publish(
        &self,
        verdicts: Vec<Verdict>,
        durable: Option<(Result<Arc<Snapshot>, EngineError>, Made)>,
    ) -> Vec<Verdict> {
        let Some((durable, made)) = durable else { return verdicts };
        // Behind a group whose sync failed nothing is published, even if it is durable.
        let Some(snapshot) = durable.ok().filter(|_| self.core.stopped().is_none()) else {
            let unknown = || Err(Refusal::Error(EngineError::Unknown));
            return verdicts.into_iter().map(|verdict| verdict.and(unknown())).collect();
        };
        let Made { group, publish, release, under_way, .. } = made;
        self.core.groups.fetch_add(1, Ordering::Relaxed);
        {
            let mut recent = self.core.recent.lock();
            for (seq, id) in (group.first..).zip(&group.ids) {
                recent.insert(*id, seq, group.now);
            }
        }
        self.core.store.show(&group);
        self.core.published.set(snapshot);
        // Before the winner hears of it: who waited longer is then the first to try.
        self.core.crowd.wrote(group.writes.iter().map(|(_, write)| write.key()));
        // After publishing: who pins first and then opens a reader never sees a chunk that is already given back.
        self.core.extents.committed(&publish, &release, under_way);
        self.notes.lock().due = true;
        verdicts
    }
}

/// A committer that panicked leaves a group behind that nobody knows the fate of.
struct StopOnPanic<'a>(&'a Committer);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.core.stop("the committer failed");
            // What waits is refused by the other threads.
            self.0.queue.give_up();
        }
    }
}
