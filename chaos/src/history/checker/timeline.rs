//! The answered operations that are still to be put in order.

use super::order::Order;
use crate::history::event::{Event, Moment};

/// Calls and answers of the answered operations in order of time, as a list from which operations are lifted.
pub struct Timeline {
    entries: Vec<Entry>,
    next: Vec<usize>,
    previous: Vec<usize>,
    /// Of each operation: where its call and its answer stand.
    places: Vec<[usize; 2]>,
}

#[derive(Clone, Copy)]
enum Entry {
    /// Before the first and behind the last.
    Edge,
    Call(usize),
    Answer(Moment),
}

const HEAD: usize = 0;

impl Timeline {
    pub fn new<C, A: Copy>(answered: &[&Event<C, A>]) -> Self {
        // At the same moment a call stands before an answer: the two then overlap, which excludes nothing.
        let mut moments: Vec<(Moment, bool, usize)> = Vec::with_capacity(answered.len() * 2);
        for (operation, event) in answered.iter().enumerate() {
            let end = event.answer.map_or(Moment::MAX, |(_, moment)| moment);
            moments.push((event.called, false, operation));
            moments.push((end.max(event.called), true, operation));
        }
        moments.sort_unstable();
        let mut entries = vec![Entry::Edge];
        let mut places = vec![[0; 2]; answered.len()];
        for (moment, is_answer, operation) in moments {
            places[operation][usize::from(is_answer)] = entries.len();
            entries.push(if is_answer { Entry::Answer(moment) } else { Entry::Call(operation) });
        }
        entries.push(Entry::Edge);
        let next = (1..=entries.len()).collect();
        let previous = (0..entries.len()).map(|place| place.saturating_sub(1)).collect();
        Self { entries, next, previous, places }
    }

    pub fn lift(&mut self, operation: usize) {
        for place in self.places[operation] {
            let (before, after) = (self.previous[place], self.next[place]);
            self.next[before] = after;
            self.previous[after] = before;
        }
    }

    /// Undoes the last `lift` that was not undone yet.
    pub fn put_back(&mut self, operation: usize) {
        let [call, answer] = self.places[operation];
        for place in [answer, call] {
            let (before, after) = (self.previous[place], self.next[place]);
            self.next[before] = place;
            self.previous[after] = place;
        }
    }

    /// The operations that were called before the first answer that is still to be explained, the likely
    /// ones first; and that answer: nothing called after it can come before it.
    pub fn candidates(&self, order: &Order, into: &mut Vec<usize>) -> Option<Moment> {
        into.clear();
        let mut place = self.next[HEAD];
        let limit = loop {
            match self.entries[place] {
                Entry::Answer(moment) => break Some(moment),
                Entry::Edge => break None,
                Entry::Call(operation) => into.push(operation),
            }
            place = self.next[place];
        };
        into.sort_unstable_by_key(|operation| order.rank(*operation));
        limit
    }
}
