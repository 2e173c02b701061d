//! The head of a queue in memory: hints about which messages come next. The truth is the commit.
//!
//! Messages leave at the head, and the engine remembers deleted keys for a while: a search for the head that
//! starts at the queue's first key walks over all of them. So a search starts at a frontier, which moves forward over
//! each key once, or, to be sure, at a floor below which nothing is alive. What other servers put may lie between the
//! two; what this one puts there is in the window.

use std::collections::{BTreeMap, HashSet};

use crate::store::record::queue::Slot;

/// Invariant: the slot of every message that this process knows of is in `ready`, or lent, or not below `frontier`; the
/// slot of every message is not below the floor. A slot in `ready` may be out of date; the Get that borrows it finds
/// out.
pub struct Window {
    /// With the moment of expiry.
    ready: BTreeMap<Slot, u64>,
    /// With the Gets that are committing.
    lent: HashSet<Slot>,
    frontier: Slot,
    floor: Floor,
    /// While a scan reads up to here: what appears meanwhile may escape its snapshot.
    scanning: Option<Slot>,
    /// How often everything was forgotten. A scan from before knows nothing of what is ready now.
    forgotten: u64,
}

#[derive(Clone, Copy)]
struct Floor {
    /// The first slot at a snapshot.
    first: Slot,
    /// The clock of that snapshot.
    at: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            ready: BTreeMap::new(),
            lent: HashSet::new(),
            frontier: Slot::FIRST,
            floor: Floor { first: Slot::FIRST, at: 0 },
            scanning: None,
            forgotten: 0,
        }
    }
}

impl Window {
    /// Takes up to `count` messages that are visible. No other Get of this process gets them until they are returned.
    pub fn lend(&mut self, now: u64, count: usize, share: Option<Share>) -> Lent {
        let mut lent = Lent::default();
        if let Some(share) = share {
            let visible = self.ready.range(..Slot::at(now.saturating_add(1)));
            let mine = visible.filter(|(slot, expires)| **expires > now && share.has(slot)).take(count);
            lent.slots = mine.map(|(slot, expires)| (*slot, *expires)).collect();
            for (slot, _) in &lent.slots {
                self.ready.remove(slot);
                self.lent.insert(*slot);
            }
        }
        while lent.slots.len() < count {
            let Some(entry) = self.ready.first_entry() else { break };
            if entry.key().visible > now {
                break;
            }
            let (slot, expires) = entry.remove_entry();
            if expires <= now {
                lent.expired.push(slot);
            } else {
                self.lent.insert(slot);
                lent.slots.push((slot, expires));
            }
        }
        lent
    }

    /// They were not got.
    pub fn give_back(&mut self, slots: impl IntoIterator<Item = (Slot, u64)>) {
        for (slot, expires) in slots {
            self.lent.remove(&slot);
            self.ready.insert(slot, expires);
        }
    }

    /// They are no longer there: got by this Get, or by another before it.
    pub fn settle(&mut self, slots: impl IntoIterator<Item = Slot>) {
        for slot in slots {
            self.lent.remove(&slot);
        }
    }

    /// The messages that would be lent next, left where they are.
    pub fn first(&self, now: u64, count: usize) -> Vec<Slot> {
        let visible = self.ready.range(..Slot::at(now.saturating_add(1)));
        visible.filter(|(_, expires)| **expires > now).map(|(slot, _)| *slot).take(count).collect()
    }

    /// A message stands at this slot. To be told after the commit: before it, a borrower would find nothing
    /// there and throw the hint away.
    pub fn appeared(&mut self, slot: Slot, expires: u64) {
        let is_scanned = slot < self.frontier || self.scanning.is_some_and(|end| slot < end);
        // A scan may have found it before this was told, and a Get may have borrowed it.
        if is_scanned && !self.lent.contains(&slot) {
            self.ready.insert(slot, expires);
        }
    }

    pub fn vanished(&mut self, slot: &Slot) {
        self.ready.remove(slot);
    }

    /// Other servers got what was ready here. To be followed by a scan from the floor.
    pub fn forget(&mut self) {
        self.ready.clear();
        self.forgotten += 1;
    }

    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Everything that this process knows of and has not scanned is not before it.
    pub fn frontier(&self) -> Slot {
        self.frontier
    }

    /// Nothing is before it. A message that was put after the floor's snapshot was taken is visible from no earlier than
    /// `margin` before that.
    pub fn floor(&self, margin: u64) -> Slot {
        self.floor.first.min(Slot::at(self.floor.at.saturating_sub(margin)))
    }

    /// To be called before the scan's snapshot is taken.
    pub fn begin_scan(&mut self, end: Slot) {
        self.scanning = Some(end);
    }

    /// The scan saw everything to the new frontier, from where it started: the old frontier, or before.
    pub fn end_scan(&mut self, found: impl IntoIterator<Item = (Slot, u64)>, frontier: Slot) {
        self.scanning = None;
        self.frontier = self.frontier.max(frontier);
        let lent = &self.lent;
        self.ready.extend(found.into_iter().filter(|(slot, _)| !lent.contains(slot)));
    }

    /// A scan from the floor found nothing before this slot, at a snapshot of this moment.
    pub fn raise_floor(&mut self, first: Slot, at: u64) {
        self.floor = Floor { first, at };
    }
}

/// Which messages a server tries to get first when others get from the same queue. They agree or not: the commit decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// This server's place among all.
    pub mine: u64,
    pub of: u64,
}

impl Share {
    fn has(&self, slot: &Slot) -> bool {
        // The last bytes of an id are random.
        slot.id as u64 % self.of.max(1) == self.mine
    }
}

#[derive(Debug, Default)]
pub struct Lent {
    pub slots: Vec<(Slot, u64)>,
    /// Met on the way, to be deleted.
    pub expired: Vec<Slot>,
}

#[cfg(test)]
mod tests;
