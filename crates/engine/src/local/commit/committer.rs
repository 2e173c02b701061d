//! The committer: turns whatever waits into atomic, durable groups.
//!
//! A group passes through three stages: it is written ([`Judge`]: judged, and put into the log), written durable, then
//! published and answered. One is written at a time, and one is published at a time, in the same order. [`GROUPS`]
//! threads carry a group each, so one is written, and synced, while the disk is busy with those before it, if enough
//! wait for it to pay. No more are ever written and not yet durable; the recovery of the log counts on that.
//!
//! A refused member learns of the refusal only after the group is published, so that its next reading sees
//! the winner.

use crate::error::{EngineError, Refusal};
use crate::local::commit::judge::{Judge, Judged, WrittenGroup, refuse_all};
use crate::local::commit::notify::{Verdict, deliver};
use crate::local::commit::pending::{Ended, GROUPS, PendingCommit, PendingCommits, Taken};
use crate::local::shared::Shared;
use crate::local::store::{Snapshot, version};
use crate::txn::Commit;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often the superblock is written while there is something new to note.
const NOTE_EVERY: Duration = Duration::from_secs(1);

pub(crate) const SYNC_FAILED: &str = "a write to stable storage failed";

pub(crate) struct Committer {
    shared: Arc<Shared>,
    pending: Arc<PendingCommits>,
    /// Locked by the thread that has a group in the first stage.
    judge: Mutex<Judge>,
    notes: Mutex<Notes>,
}

struct Notes {
    last: Instant,
    /// Something was published since.
    due: bool,
}

impl Committer {
    pub fn new(shared: Arc<Shared>, pending: Arc<PendingCommits>) -> Self {
        let judge = Mutex::new(Judge::new(shared.clone()));
        let notes = Mutex::new(Notes { last: Instant::now(), due: false });
        Self { shared, pending, judge, notes }
    }

    /// Runs until the pending ends. True after a clean stop.
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
            match self.pending.take(self.patience()) {
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
        if self.shared.stopped().is_some() {
            return false;
        }
        let mut notes = self.notes.lock();
        // What is published is durable.
        let seq = self.shared.published.get().seq();
        let noted = self.shared.store.note(seq, self.shared.clock.now(), clean);
        if noted.is_err() {
            self.shared.stop(SYNC_FAILED);
        }
        *notes = Notes { last: Instant::now(), due: false };
        noted.is_ok()
    }

    fn commit(&self, jobs: Vec<PendingCommit>) {
        let (mut txns, replies): (Vec<_>, Vec<_>) =
            jobs.into_iter().map(|job| ((job.txn, job.read_at), job.reply)).unzip();
        let mut judge = self.judge.lock();
        let (turn, verdicts) = match judge.write(&mut txns) {
            Ok(Judged { verdicts, written }) => {
                drop(judge);
                let turn = self.pending.begin_sync(txns.len());
                let durable = written.map(|written| (self.sync(&written), written));
                self.pending.begin_publish(&turn);
                (turn, self.publish(verdicts, durable))
            }
            Err(error) => {
                // Nothing else is under way then, however many groups this becomes.
                let turn = self.pending.begin_sync(txns.len());
                self.pending.begin_publish(&turn);
                let verdicts = match &txns[..] {
                    [_] => vec![Err(Refusal::Error(error))],
                    // One member asked for something impossible: alone, each gets its own answer.
                    _ => txns.chunks_mut(1).flat_map(|txn| self.alone(txn, &mut judge)).collect(),
                };
                (turn, verdicts)
            }
        };
        self.pending.end_publish(turn);
        deliver(replies.into_iter().zip(verdicts));
    }

    fn alone(&self, txn: &mut [(crate::Txn, Option<crate::txn::Stamp>)], judge: &mut Judge) -> Vec<Verdict> {
        match judge.write(txn) {
            Ok(Judged { verdicts, written }) => {
                self.publish(verdicts, written.map(|written| (self.sync(&written), written)))
            }
            Err(error) => refuse_all(txn, &error),
        }
    }

    /// The second stage: durable. Gives what readers see then.
    fn sync(&self, written: &WrittenGroup) -> Result<Arc<Snapshot>, EngineError> {
        let durable = match (self.shared.stopped(), &written.snapshot) {
            (None, Some(snapshot)) => {
                let begun = Instant::now();
                let synced = self.shared.store.sync();
                self.shared.syncs.took(begun.elapsed());
                synced.map(|()| snapshot.clone())
            }
            _ => Err(EngineError::Unknown),
        };
        durable.inspect_err(|error| {
            tracing::error!(%error, "commit failed; the engine stops");
            self.shared.stop(SYNC_FAILED);
        })
    }

    /// The third: visible.
    fn publish(
        &self,
        verdicts: Vec<Verdict>,
        durable: Option<(Result<Arc<Snapshot>, EngineError>, WrittenGroup)>,
    ) -> Vec<Verdict> {
        let Some((durable, written)) = durable else { return verdicts };
        // Behind a group whose sync failed nothing is published, even if it is durable.
        let Some(snapshot) = durable.ok().filter(|_| self.shared.stopped().is_none()) else {
            let unknown = || Err(Refusal::Error(EngineError::Unknown));
            return verdicts.into_iter().map(|verdict| verdict.and(unknown())).collect();
        };
        let WrittenGroup { group, publish, release, under_way, .. } = written;
        self.shared.groups.fetch_add(1, Ordering::Relaxed);
        {
            let mut recent = self.shared.recent.lock();
            for (seq, id) in (group.first..).zip(&group.ids) {
                recent.insert(*id, Commit { version: version(seq), now: group.now });
            }
        }
        self.shared.store.publish_to_cache(&group);
        self.shared.published.set(snapshot);
        // Wake the longest-waiting loser before replying to the winner.
        self.shared.contention.wrote(group.writes.iter().map(|(_, write)| write.key()));
        // After publishing: a caller that pins first and then opens a reader never sees a chunk that is already given back.
        self.shared.extents.committed(&publish, &release, under_way);
        self.notes.lock().due = true;
        verdicts
    }
}

/// A committer that panicked leaves a group behind whose fate is unknown.
struct StopOnPanic<'a>(&'a Committer);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.shared.stop("the committer failed");
            // What waits is refused by the other threads.
            self.0.pending.give_up();
        }
    }
}
