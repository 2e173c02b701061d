//! The keys of recent commits, in memory: most checks are judged with one hash lookup.

use crate::key::{Key, KeyRange};
use foldhash::fast::RandomState;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// How many writes are remembered; at 60,000 writes/s about half a second.
const CAPACITY: usize = 32_768;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Last {
    pub seq: u64,
    pub present: bool,
    /// It was said that no other transaction checks the key.
    pub private: bool,
    /// Where in its group the write stands; meaningful only while that group is being built.
    pub slot: usize,
}

/// Invariant: every key written by a commit with `seq > floor` is in `last`, with its newest write.
#[derive(Debug)]
pub(crate) struct RecentWrites {
    last: HashMap<Key, Last, RandomState>,
    order: VecDeque<(u64, Key)>,
    floor: u64,
}

impl RecentWrites {
    pub fn new(floor: u64) -> Self {
        Self { last: HashMap::default(), order: VecDeque::new(), floor }
    }

    pub fn get(&self, key: &[u8]) -> Option<&Last> {
        self.last.get(key)
    }

    /// True when every write since `seq` is remembered.
    pub fn covers(&self, seq: u64) -> bool {
        seq >= self.floor
    }

    /// The first key of the range written after `seq`; `Err` when that is no longer known.
    pub fn written_since(&self, range: &KeyRange, seq: u64) -> Result<Option<&Key>, ()> {
        if !self.covers(seq) {
            return Err(());
        }
        let recent = self.order.iter().rev().take_while(|(at, _)| *at > seq);
        Ok(recent.map(|(_, key)| key).find(|key| range.contains(key)))
    }

    /// Gives the slot that the write takes: that of an earlier write to the key since `first`, or its own.
    pub fn insert(&mut self, key: Key, last: Last, first: u64) -> usize {
        match self.last.entry(key) {
            Entry::Occupied(mut place) => {
                let before = *place.get();
                let slot = if before.seq >= first { before.slot } else { last.slot };
                if before.seq != last.seq {
                    self.order.push_back((last.seq, place.key().clone()));
                }
                place.insert(Last { slot, ..last });
                slot
            }
            Entry::Vacant(place) => {
                self.order.push_back((last.seq, place.key().clone()));
                place.insert(last);
                last.slot
            }
        }
    }

    /// Forgets what is over capacity. Only between groups: a group's own writes must stay known.
    pub fn trim(&mut self) {
        while self.order.len() > CAPACITY {
            let Some((seq, key)) = self.order.pop_front() else { return };
            self.floor = self.floor.max(seq);
            if self.last.get(&key).is_some_and(|last| last.seq == seq) {
                self.last.remove(&key);
            }
        }
    }
}
