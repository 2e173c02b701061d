//! Which snapshots of a name are deleted, though their keys still stand.

use lazuli_engine::Reader;
use lazuli_model::blob::SoftDeletion;
use lazuli_model::time::Timestamp;

use super::key::{self, Generation};
use super::record::Record as _;
use super::record::dead_snapshots::DeadSnapshots;
use super::record::kept_snapshots::{KeptSnapshots, KeptTogether};
use super::unit::Changes;
use crate::fault::Answer;

/// So many deletions of all snapshots of a name are told apart; of more, the two oldest are kept as long as the younger.
const KEPT_MAX: usize = 16;

/// What is said of all snapshots of a name together; a snapshot that was soft deleted by itself says so itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletedSnapshots {
    /// Those up to this moment are gone for good, unless they were soft deleted before; 0 for none.
    dead: u64,
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

impl DeletedSnapshots {
    /// As checks of the commit.
    pub async fn read(reader: &Reader, generation: Generation, name: &str) -> Answer<Self> {
        let dead = match reader.get(key::dead_snapshots(generation, name)).await? {
            Some(entry) => DeadSnapshots::decode(&entry.value)?.up_to,
            None => 0,
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
                0 => changes.delete(key),
                up_to => changes.put(key, DeadSnapshots { up_to }.encode()),
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
            None if ticks <= self.dead => Fate::Dead,
            None => Fate::Alive,
        }
    }

    /// The youngest moment that it says anything of.
    pub fn last(&self) -> u64 {
        self.kept.last().map_or(0, |kept| kept.up_to).max(self.dead)
    }

    /// Deletes every snapshot up to a moment that is alive.
    pub fn kill(&mut self, up_to: u64) {
        self.dead = up_to;
    }

    /// Soft deletes every snapshot that is alive: there are `count`, the youngest of `up_to`.
    pub fn keep(&mut self, up_to: u64, deletion: SoftDeletion, count: u32) {
        self.kept.push(KeptTogether { from: self.last(), up_to, deletion, count });
        if self.kept.len() > KEPT_MAX {
            let oldest = self.kept.remove(0);
            if let Some(next) = self.kept.first_mut() {
                next.from = oldest.from;
                next.count += oldest.count;
            }
        }
    }

    /// Brings back what was soft deleted together and can still be; gives how many that are.
    pub fn restore(&mut self, now: Timestamp) -> u32 {
        let restored = self.kept.iter().filter(|kept| kept.deletion.until > now).map(|kept| kept.count).sum();
        self.kept.retain(|kept| kept.deletion.until <= now);
        restored
    }

    /// One of those that were soft deleted together is gone for good.
    pub fn count_less(&mut self, ticks: u64) {
        if let Some(kept) = self.kept.iter_mut().find(|kept| kept.from < ticks && ticks <= kept.up_to) {
            kept.count = kept.count.saturating_sub(1);
        }
    }

    /// Whether some are gone for good that it still speaks of.
    pub fn has_gone(&self, now: Timestamp) -> bool {
        self.dead > 0 || self.kept.iter().any(|kept| kept.deletion.until <= now)
    }

    /// The keys of all that are gone for good are deleted.
    pub fn forget_gone(&mut self, now: Timestamp) {
        self.dead = 0;
        self.kept.retain(|kept| kept.deletion.until > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 10;

    fn until(deleted: u64) -> SoftDeletion {
        SoftDeletion { deleted: Timestamp(deleted), until: Timestamp(deleted + DAY) }
    }

    #[test]
    fn each_deletion_is_of_what_was_alive_then() {
        let mut marks = DeletedSnapshots::default();
        marks.kill(5);
        marks.keep(9, until(100), 3);
        marks.keep(20, until(105), 2);
        let alone = until(90);
        let fates = [
            (5, Fate::Dead),
            (6, Fate::Kept(until(100))),
            (9, Fate::Kept(until(100))),
            (10, Fate::Kept(until(105))),
            (21, Fate::Alive),
        ];
        for (ticks, fate) in fates {
            assert_eq!(marks.fate(ticks, None), fate, "{ticks}");
            assert_eq!(marks.fate(ticks, Some(alone)), Fate::Kept(alone), "{ticks}");
        }
        // Dead for good beside what is kept: what was kept before stays so.
        marks.kill(30);
        assert_eq!(marks.fate(9, None), Fate::Kept(until(100)));
        assert_eq!(marks.fate(21, None), Fate::Dead);
        assert!(marks.has_gone(Timestamp(101)));
        marks.forget_gone(Timestamp(101));
        assert!(!marks.has_gone(Timestamp(101)) && marks.has_gone(Timestamp(110)));
        assert_eq!(marks.restore(Timestamp(110)), 2, "the first three are gone by then");
        assert_eq!(marks.fate(15, None), Fate::Alive);
        assert!(marks.fate(6, None).is_gone(Timestamp(110)));
    }

    #[test]
    fn many_deletions_are_few_words() {
        let mut marks = DeletedSnapshots::default();
        for at in 1..=100 {
            marks.keep(at * 10, until(at), 1);
        }
        assert_eq!(marks.kept.len(), KEPT_MAX);
        for ticks in 1..=1_000 {
            assert!(matches!(marks.fate(ticks, None), Fate::Kept(_)), "{ticks}");
        }
        assert_eq!(marks.restore(Timestamp(0)), 100);
    }
}
