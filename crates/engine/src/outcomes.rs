//! What became of the last transactions, kept in memory.

use crate::txn::{Commit, TxnId};
use foldhash::fast::RandomState;
use std::collections::{HashMap, VecDeque};

/// The outcomes of the last transactions, by id.
#[derive(Default)]
pub(crate) struct RecentOutcomes {
    /// `None` where the outcome cannot be told any more.
    known: HashMap<TxnId, Option<Commit>, RandomState>,
    order: VecDeque<TxnId>,
}

impl RecentOutcomes {
    const CAPACITY: usize = 32_768;

    pub fn get(&self, id: TxnId) -> Option<Commit> {
        self.known.get(&id).copied().flatten()
    }

    pub fn insert(&mut self, id: TxnId, commit: Commit) {
        self.note(id, Some(commit));
    }

    /// What became of it is not known, and never will be.
    #[cfg(feature = "postgres")]
    pub fn lose(&mut self, id: TxnId) {
        self.note(id, None);
    }

    #[cfg(feature = "postgres")]
    pub fn is_lost(&self, id: TxnId) -> bool {
        self.known.get(&id).is_some_and(Option::is_none)
    }

    fn note(&mut self, id: TxnId, outcome: Option<Commit>) {
        if self.known.insert(id, outcome).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > Self::CAPACITY
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}
