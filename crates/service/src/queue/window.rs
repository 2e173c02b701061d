//! The head of a queue in memory: hints about which messages come next. The truth is the commit.
//!
//! Messages leave at the head, and the engine remembers deleted keys for a while: a search for the head that
//! starts at the queue's first key walks over all of them. So the search starts at a frontier, and the frontier
//! only moves forward, over each key once.

use std::collections::BTreeMap;

use crate::record::queue::Slot;

/// Invariant: every message's slot is in `ready`, or lent, or not below `frontier`. A slot in `ready` may be out of
/// date; whoever borrows it finds out.
pub struct Window {
    /// With the moment of expiry.
    ready: BTreeMap<Slot, u64>,
    frontier: Slot,
    /// While a scan reads from the frontier up to here: what appears meanwhile may escape its snapshot.
    scanning: Option<Slot>,
}

impl Window {
    pub fn new(frontier: Slot) -> Self {
        Self { ready: BTreeMap::new(), frontier, scanning: None }
    }

    /// Takes up to `count` messages that are visible. Nobody else gets them until they are returned.
    pub fn lend(&mut self, now: u64, count: usize) -> Lent {
        let mut lent = Lent::default();
        while lent.slots.len() < count {
            let Some(entry) = self.ready.first_entry() else { break };
            if entry.key().visible > now {
                break;
            }
            let (slot, expires) = entry.remove_entry();
            if expires <= now {
                lent.expired.push(slot);
            } else {
                lent.slots.push((slot, expires));
            }
        }
        lent
    }

    pub fn give_back(&mut self, slots: impl IntoIterator<Item = (Slot, u64)>) {
        self.ready.extend(slots);
    }

    /// The messages that would be lent next, left where they are.
    pub fn first(&self, now: u64, count: usize) -> Vec<Slot> {
        let visible = self.ready.range(..Slot::at(now.saturating_add(1)));
        visible.filter(|(_, expires)| **expires > now).map(|(slot, _)| *slot).take(count).collect()
    }

    /// A message stands at this slot. To be told after the commit: before it, a borrower would find nothing
    /// there and throw the hint away.
    pub fn appeared(&mut self, slot: Slot, expires: u64) {
        if slot < self.frontier || self.scanning.is_some_and(|end| slot < end) {
            self.ready.insert(slot, expires);
        }
    }

    pub fn vanished(&mut self, slot: &Slot) {
        self.ready.remove(slot);
    }

    /// To be called before the scan's snapshot is taken. Answers where it starts.
    pub fn begin_scan(&mut self, end: Slot) -> Slot {
        self.scanning = Some(end);
        self.frontier
    }

    /// The scan saw everything from the old frontier to the new one.
    pub fn end_scan(&mut self, found: impl IntoIterator<Item = (Slot, u64)>, frontier: Slot) {
        self.scanning = None;
        self.frontier = self.frontier.max(frontier);
        self.ready.extend(found);
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
