//! Gives deleted rows back while there is nothing else to do.
//!
//! A level is merged when it is full, so what is deleted last stays in the tables for as long as little is written: gigabytes,
//! after many deletions. So when much was deleted and no commit has come for [`QUIET`], memory is written out and each
//! keyspace of which a good part is deleted is merged down to the last level. Reads go on; the thread gives way to them.

use super::{Worker, leveled_from_one_table, rotate};
use crate::local::embedded::TABLE;
use fjall::{AbstractTree, Keyspace, LsmError};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// No commit for so long is a quiet time.
pub(super) const QUIET: Duration = Duration::from_millis(if cfg!(test) { 200 } else { 5_000 });
/// Deleted keys from which on it is worth while.
const MUCH: u64 = if cfg!(test) { 1_000 } else { 10_000 };
/// And of so many rows at least one must be a deleted key: each hides one more.
const ONE_OF: u64 = 8;
/// How often old snapshots are waited for, and how often files that they show are looked at.
const PATIENCE: u32 = 24;
/// A larger keyspace is merged a part at a time: closing waits for the end of a merge.
const AT_A_TIME: u64 = 4 << 30;

#[derive(Default)]
pub(super) struct Tidying {
    /// fjall's number of the last write, at the last look.
    quiet_at: Option<u64>,
    /// How often a merge was put off, because old snapshots are open.
    postponed: u32,
    /// How often to look still whether files can go.
    releases: u32,
}

/// True when so many more make it worth while.
pub(super) fn is_much(before: u64, more: u64) -> bool {
    before < MUCH && before + more >= MUCH
}

impl Worker {
    /// Counts what earlier runs deleted.
    pub(super) fn count_deleted(&self) {
        let left = self.spaces.all().into_iter().map(|keyspace| rows(keyspace).deleted).sum();
        self.merging.deleted.fetch_add(left, Ordering::Relaxed);
    }

    pub(super) fn waits_for_quiet(&self) -> bool {
        self.tidying.releases > 0 || self.merging.deleted.load(Ordering::Relaxed) >= MUCH
    }

    /// Once in [`QUIET`] while something is to be done.
    pub(super) fn tidy_if_quiet(&mut self) -> Result<(), LsmError> {
        let now = self.spaces.db.seqno();
        if !self.waits_for_quiet() || self.tidying.quiet_at.replace(now) != Some(now) {
            return Ok(());
        }
        if self.tidying.releases > 0 {
            self.release()?;
        } else if !self.is_read_by_old_snapshots(now)? || self.tidying.postponed >= PATIENCE {
            self.merging.deleted.store(0, Ordering::Relaxed);
            self.tidying.postponed = 0;
            if self.merge_deleted()? {
                self.tidying.releases = PATIENCE;
                self.release()?;
            }
        } else {
            self.tidying.postponed += 1;
        }
        // What was committed here does not end the quiet time.
        self.tidying.quiet_at = Some(self.spaces.db.seqno());
        Ok(())
    }

    /// What a snapshot from before the last deletions shows would stay.
    fn is_read_by_old_snapshots(&self, since: u64) -> Result<bool, LsmError> {
        self.look_who_reads()?;
        Ok(self.spaces.oldest_read() + 1 < since)
    }

    /// fjall looks which snapshots are open, and which files are in use, when memory is written out.
    fn look_who_reads(&self) -> Result<(), LsmError> {
        (self.tick)();
        rotate(&self.spaces.own)
    }

    /// True when something was merged.
    fn merge_deleted(&self) -> Result<bool, LsmError> {
        for keyspace in self.spaces.all() {
            if !self.space.look().has_room_for(0) {
                return Ok(false);
            }
            rotate(keyspace)?;
        }
        self.wait_for_flushes();
        let mut merged = false;
        for keyspace in self.spaces.all() {
            if self.merging.is_stopped() || !rows(keyspace).is_worth_while() {
                continue;
            }
            merged = true;
            let bytes = keyspace.tree.disk_space();
            match self.room_for(bytes).filter(|_| bytes <= AT_A_TIME) {
                Some(merge) => {
                    self.one(keyspace, merge, || {
                        keyspace.tree.major_compact(TABLE, self.spaces.oldest_read())
                    })?;
                }
                None => {
                    self.merge(keyspace, &leveled_from_one_table())?;
                }
            }
        }
        Ok(merged)
    }

    /// Files that were replaced go once no snapshot from before shows them.
    fn release(&mut self) -> Result<(), LsmError> {
        self.look_who_reads()?;
        let kept =
            [&self.spaces.rows, &self.spaces.wide].iter().any(|space| space.tree.version_free_list_len() > 0);
        self.tidying.releases = if kept { self.tidying.releases - 1 } else { 0 };
        Ok(())
    }
}

/// What the tables of a keyspace hold.
#[derive(Clone, Copy, Debug, Default)]
struct Rows {
    all: u64,
    deleted: u64,
}

impl Rows {
    fn is_worth_while(self) -> bool {
        self.deleted >= MUCH / 2 && self.deleted * ONE_OF >= self.all
    }
}

fn rows(keyspace: &Keyspace) -> Rows {
    keyspace.tree.current_version().iter_tables().fold(Rows::default(), |rows, table| Rows {
        all: rows.all + table.metadata.item_count,
        deleted: rows.deleted + table.tombstone_count(),
    })
}
