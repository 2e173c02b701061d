//! Merges tables, when there is room for it.
//!
//! fjall merges as it likes, in the thread that also writes out what is in memory, and stops for good when a merge
//! finds no space. So it is given a strategy by which it has nothing to merge, and this thread does it instead: it
//! looks first whether the disk has room for the merge, leaves it for later when not, and a merge that fails for want of
//! space or descriptors is tried again. A store made before this keeps its own strategy, and fjall merges there as well.
//!
//! While space is low, what was deleted is given back at once: memory is written out and tables are merged down to the
//! last level, where deleted keys end. The same is done when much was deleted and no commit comes for a while
//! ([`tidying`]).

mod sizes;
#[cfg(test)]
mod tests;
mod tidying;

use super::fjall::background;
use super::{Spaces, TABLE};
use crate::local::space::{Merge, Needs, Space};
use fjall::compaction::Leveled;
use fjall::{AbstractTree, Keyspace, KeyspaceCreateOptions, LsmError};
use parking_lot::{Condvar, Mutex};
use rustix::io::Errno;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidying::Tidying;

/// While there is something that has no room yet, or space is low.
const AGAIN: Duration = Duration::from_millis(500);
const IDLE: Duration = Duration::from_secs(3_600);
/// How often to look whether memory has been written out, and how long.
const FLUSH_POLL: Duration = Duration::from_millis(20);
const FLUSH_PATIENCE: Duration = Duration::from_secs(60);
/// Giving back takes at most a fourth of the time.
const REST: u32 = 3;

/// While space is low, so much is written for what goes before it is given back.
const SHRINKING: u64 = 8 << 20;
/// And so much in all, with what deletions write.
const PROMISED: u64 = 16 << 20;

const FAILED: &str = "merging tables failed";

/// Commits a row of the engine's own. Files that a merge replaced are kept for the snapshots from before it, and a
/// snapshot is from before it until something is committed after it.
pub(crate) type Tick = Box<dyn Fn() + Send>;

/// With this strategy fjall merges nothing by itself: no level is ever full.
pub(super) fn no_merges() -> Leveled {
    Leveled::default().with_l0_threshold(u8::MAX).with_table_target_size(1 << 40)
}

fn leveled() -> Leveled {
    Leveled::default().with_table_target_size(TABLE)
}

/// Merges a single new table as well.
fn leveled_from_one_table() -> Leveled {
    leveled().with_l0_threshold(1)
}

#[derive(Default)]
pub(super) struct Merging {
    signal: Mutex<Signal>,
    wake: Condvar,
    under_way: Mutex<Option<Merge>>,
    /// Written since space is low, or since the last giving back, by commits with which a little more went, or will go.
    shrunk: AtomicU64,
    /// Keys that were deleted since the store was last tidied.
    deleted: AtomicU64,
    failed: OnceLock<&'static str>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Signal {
    work: bool,
    stop: bool,
}

impl Merging {
    pub fn needs(&self, spaces: &Spaces) -> Needs {
        Needs { merging: *self.under_way.lock(), ..sizes::needs(spaces) }
    }

    pub fn may_shrink(&self, bytes: u64) -> bool {
        self.take(bytes, SHRINKING)
    }

    pub fn may_promise(&self, bytes: u64) -> bool {
        self.take(bytes, PROMISED)
    }

    fn take(&self, bytes: u64, most: u64) -> bool {
        let more = |shrunk: u64| shrunk.checked_add(bytes).filter(|sum| *sum <= most);
        self.shrunk.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    pub fn failed(&self) -> Option<&'static str> {
        self.failed.get().copied()
    }

    /// So many keys are deleted by a commit.
    pub fn deleted(&self, keys: u64) {
        if keys > 0 && tidying::is_much(self.deleted.fetch_add(keys, Ordering::Relaxed), keys) {
            self.wake();
        }
    }

    /// There may be something to merge.
    pub fn wake(&self) {
        self.signal.lock().work = true;
        self.wake.notify_one();
    }

    pub fn start(self: &Arc<Self>, spaces: &Arc<Spaces>, space: &Arc<Space>, tick: Tick) {
        let worker = Worker {
            merging: self.clone(),
            spaces: spaces.clone(),
            space: space.clone(),
            tick,
            tidied: 0,
            tidying: Tidying::default(),
            rest_until: Instant::now(),
        };
        match background::spawn("merging", move || worker.run()) {
            Ok(thread) => *self.thread.lock() = Some(thread),
            Err(error) => {
                tracing::error!(%error, "no thread for merging");
                let _ = self.failed.set(FAILED);
            }
        }
    }

    /// Ends the thread and waits for it: for the end of a merge, when one is under way.
    pub fn stop(&self) {
        self.signal.lock().stop = true;
        self.wake.notify_all();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    fn is_stopped(&self) -> bool {
        self.signal.lock().stop
    }

    /// Until there is work, or for so long; true when it is time to end.
    fn wait(&self, at_most: Duration) -> bool {
        let mut signal = self.signal.lock();
        if !signal.work && !signal.stop {
            self.wake.wait_for(&mut signal, at_most);
        }
        signal.work = false;
        signal.stop
    }
}

struct Worker {
    merging: Arc<Merging>,
    spaces: Arc<Spaces>,
    space: Arc<Space>,
    tick: Tick,
    /// fjall's number of the last write when everything deleted was given back.
    tidied: u64,
    rest_until: Instant,
    tidying: Tidying,
}

enum Merged {
    /// Nothing is left to do.
    All,
    /// There is no room for the next merge.
    NoRoom,
}

impl Worker {
    fn run(mut self) {
        let _guard = FailOnPanic(self.merging.clone());
        let mut patience = Duration::ZERO;
        self.count_deleted();
        while !self.merging.wait(patience) {
            patience = match self.round() {
                Ok(Merged::All) if self.waits_for_quiet() => tidying::QUIET,
                Ok(Merged::All) => IDLE,
                Ok(Merged::NoRoom) => AGAIN,
                Err(error) if passes(&error) => {
                    tracing::warn!(%error, "tables could not be merged now");
                    AGAIN
                }
                Err(error) => {
                    tracing::error!(%error, "tables could not be merged");
                    let _ = self.merging.failed.set(FAILED);
                    return;
                }
            };
        }
    }

    fn round(&mut self) -> Result<Merged, LsmError> {
        self.wait_for_flushes();
        let mut merged = Merged::All;
        for keyspace in self.spaces.all() {
            if let Merged::NoRoom = self.merge(keyspace, &leveled())? {
                merged = Merged::NoRoom;
            }
        }
        if !self.space.look().is_low() {
            self.merging.shrunk.store(0, Ordering::Relaxed);
            if let Merged::All = merged {
                self.tidy_if_quiet()?;
            }
            return Ok(merged);
        }
        if Instant::now() >= self.rest_until && self.spaces.db.seqno() != self.tidied {
            let began = Instant::now();
            self.give_back()?;
            self.merging.shrunk.store(0, Ordering::Relaxed);
            self.tidied = self.spaces.db.seqno();
            self.rest_until = Instant::now() + began.elapsed() * REST;
        }
        Ok(Merged::NoRoom)
    }

    /// One merge after another, until there is none or no room for it.
    fn merge(&self, keyspace: &Keyspace, strategy: &Leveled) -> Result<Merged, LsmError> {
        while !self.merging.is_stopped() {
            let before = keyspace.tree.current_version().id();
            let Some(merge) = self.room_for(sizes::merge(keyspace)) else { return Ok(Merged::NoRoom) };
            self.one(keyspace, merge, || {
                keyspace.tree.compact(Arc::new(strategy.clone()), self.spaces.oldest_read())
            })?;
            if keyspace.tree.current_version().id() == before {
                break;
            }
        }
        Ok(Merged::All)
    }

    /// Writes out what is in memory, and merges until deleted keys are gone with what they hide.
    fn give_back(&self) -> Result<(), LsmError> {
        for keyspace in self.spaces.all() {
            if !self.space.look().has_room_for(0) {
                return Ok(());
            }
            rotate(keyspace)?;
        }
        self.wait_for_flushes();
        for keyspace in self.spaces.all() {
            if let Some(merge) = self.room_for(keyspace.tree.disk_space()) {
                self.one(keyspace, merge, || keyspace.tree.major_compact(TABLE, self.spaces.oldest_read()))?;
            } else {
                // A large store: a part at a time.
                self.merge(keyspace, &leveled_from_one_table())?;
            }
        }
        (self.tick)();
        // Here fjall looks which files are in use.
        rotate(&self.spaces.own)
    }

    fn room_for(&self, bytes: u64) -> Option<Merge> {
        let seen = self.space.look();
        seen.has_room_for(bytes).then_some(Merge { bytes, available: seen.available })
    }

    fn one(
        &self,
        keyspace: &Keyspace,
        merge: Merge,
        work: impl FnOnce() -> Result<(), LsmError>,
    ) -> Result<(), LsmError> {
        let first = keyspace.tree.get_next_table_id();
        *self.merging.under_way.lock() = Some(merge);
        let done = work();
        *self.merging.under_way.lock() = None;
        if done.is_err() {
            remove_unfinished(keyspace, first);
        }
        done
    }

    fn wait_for_flushes(&self) {
        let end = Instant::now() + FLUSH_PATIENCE;
        let waiting = || self.spaces.all().into_iter().any(|keyspace| keyspace.sealed_memtable_count() > 0);
        while waiting() && Instant::now() < end && !self.merging.is_stopped() {
            std::thread::sleep(FLUSH_POLL);
        }
    }
}

/// fjall writes out what is in the keyspace's memory.
fn rotate(keyspace: &Keyspace) -> Result<(), LsmError> {
    match keyspace.rotate_memtable() {
        Ok(_) => Ok(()),
        Err(fjall::Error::Io(error)) => Err(LsmError::Io(error)),
        Err(fjall::Error::Storage(error)) => Err(error),
        Err(error) => Err(LsmError::Io(std::io::Error::other(error))),
    }
}

/// Removes what a failed merge of ours left: tables numbered from `first` on that are in no list. A flush lists its table
/// before it lets go of the lock. fjall's own merges hold no lock while they write, so where fjall merges as well the
/// files stay: the next opening removes them.
fn remove_unfinished(keyspace: &Keyspace, first: u64) {
    if !we_alone_merge(keyspace) {
        return;
    }
    let _lock = keyspace.tree.get_flush_lock();
    let listed: Vec<u64> = keyspace.tree.current_version().iter_tables().map(|table| table.id()).collect();
    let Ok(entries) = std::fs::read_dir(keyspace.path().join("tables")) else { return };
    for entry in entries.flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<u64>().ok());
        if number.is_some_and(|number| number >= first && !listed.contains(&number)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// fjall writes a keyspace's strategy down when it makes the keyspace, and keeps to it.
fn we_alone_merge(keyspace: &Keyspace) -> bool {
    let ours = KeyspaceCreateOptions::default().compaction_strategy(Arc::new(no_merges()));
    keyspace.config.compaction_strategy.get_config() == ours.compaction_strategy.get_config()
}

/// For want of space or of descriptors.
fn passes(error: &LsmError) -> bool {
    let LsmError::Io(error) = error else { return false };
    let errnos = [Errno::NOSPC, Errno::DQUOT, Errno::MFILE, Errno::NFILE];
    errnos.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Without merges, writes come to a stand sooner or later.
struct FailOnPanic(Arc<Merging>);

impl Drop for FailOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.0.failed.set(FAILED);
        }
    }
}
