//! The dead ends that a search has met.

use std::collections::HashMap;
use std::hash::Hash;

use crate::history::event::Moment;

/// Which unanswered operations an order can no longer use.
#[derive(Clone, Debug)]
pub struct Spent {
    /// The latest call of the order: what ended before it is over.
    pub latest: Moment,
    /// How many are over.
    pub over: usize,
    /// Those that were used and are not over, in order, each with its end.
    pub used: Vec<(usize, Moment)>,
}

impl Spent {
    /// Whether every unanswered operation that the other order can still use can be used here too.
    fn is_no_more_than(&self, other: &Self) -> bool {
        let is_spent = |(index, end): &(usize, Moment)| {
            *end < other.latest || other.used.binary_search_by_key(index, |(used, _)| *used).is_ok()
        };
        self.over <= other.over && self.used.iter().all(is_spent)
    }
}

/// For the answered operations of an order and the state they led to: what had been spent on it.
pub struct Memory<M>(HashMap<(u128, M), Vec<Spent>>);

impl<M> Default for Memory<M> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<M: Eq + Hash> Memory<M> {
    /// Whether no order that met the same before could do at least as much. It is remembered.
    pub fn is_new(&mut self, met: (u128, M), spent: Spent) -> bool {
        let known = self.0.entry(met).or_default();
        if known.iter().any(|known| known.is_no_more_than(&spent)) {
            return false;
        }
        known.retain(|known| !spent.is_no_more_than(known));
        known.push(spent);
        true
    }
}
