//! Which of the answered operations may come next, and which of these is tried first.

use std::ops::Range;

use crate::history::event::{Event, Moment};
use crate::history::hint::{Hint, PARTS};

/// How far the hints of a history are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// On each part the operations come in the order of their hints. That there is no such order proves nothing.
    Strict,
    /// The change with the earliest hint is tried first, and all others after it.
    First,
    /// They are ignored.
    None,
}

pub struct Order {
    /// Of each operation: the lower, the earlier it is tried.
    ranks: Vec<usize>,
    /// Of each operation and part: how many others with hints may stand before it. None: any number.
    places: Vec<[Option<Range<usize>>; PARTS]>,
    /// Of each part: how many operations with hints stand in the order that is being built.
    placed: [usize; PARTS],
}

impl Order {
    pub fn new<C, A>(answered: &[&Event<C, A>], trust: Trust) -> Self {
        let mut all: Vec<usize> = (0..answered.len()).collect();
        all.sort_by_key(|operation| expected(answered[*operation], trust));
        let mut ranks = vec![0; answered.len()];
        for (rank, operation) in all.into_iter().enumerate() {
            ranks[operation] = rank;
        }
        let mut places = vec![[const { None }; PARTS]; answered.len()];
        let parts = if trust == Trust::Strict { 0..PARTS } else { 0..0 };
        for (operation, part, place) in parts.flat_map(|part| places_on(part, answered)) {
            places[operation][part] = Some(place);
        }
        Self { ranks, places, placed: [0; PARTS] }
    }

    pub fn rank(&self, operation: usize) -> usize {
        self.ranks[operation]
    }

    pub fn allows(&self, operation: usize) -> bool {
        let mut parts = self.places[operation].iter().zip(&self.placed);
        parts.all(|(place, placed)| place.as_ref().is_none_or(|place| place.contains(placed)))
    }

    pub fn place(&mut self, operation: usize) {
        for (place, placed) in self.places[operation].iter().zip(&mut self.placed) {
            *placed += usize::from(place.is_some());
        }
    }

    pub fn put_back(&mut self, operation: usize) {
        for (place, placed) in self.places[operation].iter().zip(&mut self.placed) {
            *placed -= usize::from(place.is_some());
        }
    }
}

/// Of each operation that has a hint on this part. Those that found what the same change had left come in any order.
fn places_on<C, A>(part: usize, answered: &[&Event<C, A>]) -> Vec<(usize, usize, Range<usize>)> {
    let hints = answered.iter().enumerate();
    let hints = hints.filter_map(|(operation, event)| Some((event.hints[part]?.place(), operation)));
    let mut hints: Vec<_> = hints.collect();
    hints.sort_unstable();
    let mut places = Vec::with_capacity(hints.len());
    for same in hints.chunk_by(|(one, _), (other, _)| one == other) {
        let place = places.len()..places.len() + same.len();
        places.extend(same.iter().map(|(_, operation)| (*operation, part, place.clone())));
    }
    places
}

/// When it probably took effect. Without a hint: who waits long in a line takes effect shortly before the answer.
fn expected<C, A>(event: &Event<C, A>, trust: Trust) -> Moment {
    let answered = event.answer.as_ref().map_or(Moment::MAX, |(_, moment)| *moment).max(event.called);
    let made = event.hints.iter().filter_map(|hint| match hint {
        Some(Hint::Made(at)) if trust != Trust::None => Some(*at),
        _ => None,
    });
    made.max().map_or(answered, |at| at.clamp(event.called, answered))
}
