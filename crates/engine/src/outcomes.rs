//! What became of the last transactions, kept in memory.

use crate::txn::{Commit, TxnId};
use foldhash::fast::RandomState;
use std::collections::{HashMap, VecDeque};

/// The outcomes of the last transactions, by id.
#[derive(Default)]
pub(crate) struct RecentOutcomes {
    commits: HashMap<TxnId, Commit, RandomState>,
    order: VecDeque<TxnId>,
}

impl RecentOutcomes {
    const CAPACITY: usize = 32_768;

    pub fn get(&self, id: TxnId) -> Option<Commit> {
        self.commits.get(&id).copied()
    }

    pub fn insert(&mut self, id: TxnId, commit: Commit) {
        if self.commits.insert(id, commit).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > Self::CAPACITY
            && let Some(oldest) = self.order.pop_front()
        {
            self.commits.remove(&oldest);
        }
    }
}
