//! Which snapshots of a name are deleted, though their keys still stand.
//!
//! What is said here is of all that were alive at a moment, so every snapshot that is alive is younger than all that is
//! said. Keys of those that are gone for good are deleted from the oldest on, in commits of a bounded size; each commit
//! narrows what is said to what it has left. A deletion that comes between two such commits says more, and nothing that a
//! commit has left behind can become part of it.

use lazuli_engine::{Reader, Scan};
use lazuli_model::blob::SoftDeletion;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;

use super::blob::decode_blob;
use super::content;
use super::indexed::forget_hold;
use super::key::{self, Generation};
use super::record::Record as _;
use super::record::dead_snapshots::DeadSnapshots;
use super::record::kept_snapshots::{KeptSnapshots, KeptTogether};
use super::unit::Changes;
use crate::fault::Answer;

/// So many deletions of all snapshots of a name are told apart. Of more, two that follow each other are kept as long as
/// the one that is kept longer.
const KEPT_MAX: usize = 16;
/// Those that cannot be made one, because others between them are gone for good, are told apart until the sweeper has been
/// there. One takes 45 bytes at the most.
const KEPT_APART_MAX: usize = 1_000;
/// What one commit reads of those that are gone for good. What it writes is less than twice that, and a hundred bytes for
/// each: a record holds what its content is made of.
const CLEARED_BYTES: usize = 100_000;

/// What is said of all snapshots of a name together; a snapshot that was soft deleted by itself says so itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletedSnapshots {
    dead: Option<DeadSnapshots>,
    kept: Vec<KeptTogether>,
}

/// What became of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Alive,
    /// Soft deleted, until a moment that may have passed.
    Kept(SoftDeletion),
    Dead,
}

impl Fate {
    pub fn is_gone(self, now: Timestamp) -> bool {
        match self {
            Self::Alive => false,
            Self::Kept(deletion) => deletion.until <= now,
            Self::Dead => true,
        }
    }
}

impl KeptTogether {
    fn is_gone(&self, now: Timestamp) -> bool {
        self.deletion.until <= now
    }

    /// Those of both, for as long as any of them is kept.
    fn with(&self, younger: &Self) -> Self {
        let longer = if self.deletion.until > younger.deletion.until { self } else { younger };
        Self {
            from: self.from,
            up_to: younger.up_to,
            deletion: longer.deletion,
            count: self.count.saturating_add(younger.count),
        }
    }
}

impl DeletedSnapshots {
    /// As checks of the commit.
    pub async fn read(reader: &Reader, generation: Generation, name: &str) -> Answer<Self> {
        let dead = match reader.get(key::dead_snapshots(generation, name)).await? {
            Some(entry) => Some(DeadSnapshots::decode(&entry.value)?),
            None => None,
        };
        let kept = match reader.get(key::kept_snapshots(generation, name)).await? {
            Some(entry) => KeptSnapshots::decode(&entry.value)?.0,
            None => Vec::new(),
        };
        Ok(Self { dead, kept })
    }

    /// Writes what differs from what was read.
    pub fn write(self, changes: &mut impl Changes, generation: Generation, name: &str, read: &Self) {
        if self.dead != read.dead {
            let key = key::dead_snapshots(generation, name);
            match self.dead {
                None => changes.delete(key),
                Some(dead) => changes.put(key, dead.encode()),
            }
        }
        if self.kept != read.kept {
            let key = key::kept_snapshots(generation, name);
            match self.kept.is_empty() {
                true => changes.delete(key),
                false => changes.put(key, KeptSnapshots(self.kept).encode()),
            }
        }
    }

    /// Of the snapshot of this moment, by what it says itself and what is said of all.
    pub fn fate(&self, ticks: u64, own: Option<SoftDeletion>) -> Fate {
        if let Some(deletion) = own {
            return Fate::Kept(deletion);
        }
        match self.kept.iter().find(|kept| kept.from < ticks && ticks <= kept.up_to) {
            Some(kept) => Fate::Kept(kept.deletion),
            None if self.dead.is_some_and(|dead| dead.from < ticks && ticks <= dead.up_to) => Fate::Dead,
            None => Fate::Alive,
        }
    }

    /// The youngest moment that it says anything of.
    pub fn last(&self) -> u64 {
        self.kept.last().map_or(0, |kept| kept.up_to).max(self.dead.map_or(0, |dead| dead.up_to))
    }

    /// Deletes every snapshot up to a moment that is alive.
    pub fn kill(&mut self, up_to: u64) {
        let from = self.dead.map_or(0, |dead| dead.from);
        self.dead = Some(DeadSnapshots { from, up_to });
    }

    /// The keys of all but those that are kept are deleted.
    pub fn forget_dead(&mut self) {
        self.dead = None;
    }

    /// Soft deletes every snapshot that is alive: there are `count`, the youngest of `up_to`.
    pub fn keep(
        &mut self,
        up_to: u64,
        deletion: SoftDeletion,
        count: u32,
        now: Timestamp,
    ) -> Result<(), Failure> {
        self.kept.push(KeptTogether { from: self.last(), up_to, deletion, count });
        if self.kept.len() > KEPT_MAX {
            let pair = self.kept.windows(2).position(|pair| match pair {
                [older, younger] => self.can_be_one(older, younger, now),
                _ => false,
            });
            match pair {
                Some(at) => {
                    let older = self.kept.remove(at);
                    if let Some(younger) = self.kept.get_mut(at) {
                        *younger = older.with(younger);
                    }
                }
                None if self.kept.len() > KEPT_APART_MAX => {
                    let failure = Failure::new(ErrorCode::ServerBusy);
                    return Err(failure.cause("the sweeper is behind with deleted snapshots"));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Whether two that follow each other can be said in one: what is gone for good must not come back with what is not.
    fn can_be_one(&self, older: &KeptTogether, younger: &KeptTogether, now: Timestamp) -> bool {
        let are_dead_between = self.dead.is_some_and(|dead| {
            older.up_to < younger.from && dead.from < younger.from && older.up_to < dead.up_to
        });
        older.is_gone(now) == younger.is_gone(now) && (older.is_gone(now) || !are_dead_between)
    }

    /// Brings back what was soft deleted together; gives how many that are. Only while none is gone for good: what says so
    /// would be of those that come back.
    pub fn restore(&mut self) -> u32 {
        std::mem::take(&mut self.kept).iter().map(|kept| kept.count).fold(0, u32::saturating_add)
    }

    /// One of those that were soft deleted together is gone for good.
    pub fn count_less(&mut self, ticks: u64) {
        if let Some(kept) = self.kept.iter_mut().find(|kept| kept.from < ticks && ticks <= kept.up_to) {
            kept.count = kept.count.saturating_sub(1);
        }
    }

    /// Whether some are gone for good that it still speaks of.
    pub fn has_gone(&self, now: Timestamp) -> bool {
        self.gone(now).is_some()
    }

    /// Behind which moment, and up to which one, all lie that are gone for good.
    fn gone(&self, now: Timestamp) -> Option<(u64, u64)> {
        let dead = self.dead.map(|dead| (dead.from, dead.up_to));
        let kept = self.kept.iter().filter(|kept| kept.is_gone(now)).map(|kept| (kept.from, kept.up_to));
        kept.chain(dead).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The keys of all that are gone for good, up to this moment, are deleted.
    fn forget_gone(&mut self, up_to: u64, now: Timestamp) {
        self.dead = self.dead.filter(|dead| up_to < dead.up_to);
        if let Some(dead) = &mut self.dead {
            dead.from = dead.from.max(up_to);
        }
        self.kept.retain(|kept| !kept.is_gone(now) || up_to < kept.up_to);
        for kept in self.kept.iter_mut().filter(|kept| kept.is_gone(now)) {
            kept.from = kept.from.max(up_to);
        }
    }

    /// Deletes the oldest ones that are gone for good. False when none of them is left.
    pub async fn clear_some(
        reader: &Reader,
        changes: &mut impl Changes,
        generation: Generation,
        name: &str,
        now: Timestamp,
    ) -> Answer<bool> {
        let read = Self::read(reader, generation, name).await?;
        let Some((from, up_to)) = read.gone(now) else { return Ok(false) };
        let range = key::snapshots_between(generation, name, from, up_to);
        let page = reader.scan(Scan { max_bytes: CLEARED_BYTES, ..Scan::of(range) }).await?;
        let mut contents = Vec::new();
        let mut reached = up_to;
        for (key, _) in page.items {
            let Some(ticks) = key::snapshot_ticks(&key) else { continue };
            if page.more {
                reached = ticks;
            }
            // Read as a check: each content loses its holder once.
            let Some(record) = decode_blob(reader.get(key.clone()).await?)? else { continue };
            if read.fate(ticks, record.extras().deletion).is_gone(now) {
                forget_hold(changes, &key, &record);
                contents.push(record.content);
                changes.delete(key);
            }
        }
        content::drop_holders(reader, changes, &contents).await?;
        let mut left = read.clone();
        left.forget_gone(reached, now);
        let more = left.has_gone(now);
        left.write(changes, generation, name, &read);
        Ok(more)
    }
}

#[cfg(test)]
mod tests;
