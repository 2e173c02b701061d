//! Is there one order of the operations, each at some moment between its call and its answer, in which the model
//! gives every answer that was given? The search is Wing and Gong's with Lowe's memory of dead ends: an operation is
//! put next if nothing else was answered before it was called; where no operation fits, the last choice is undone.
//!
//! An operation that was never answered may come at any later moment of its server's life or not at all, so it is
//! tried last, and only where it would change something. Nothing can be wrongly accepted: an accepted order has been walked
//! through the model step by step.
//!
//! A reading or a refusal that fits is put at once and for good: in any order where it comes later it could as well come
//! here. Without this rule the many ways to mix refusals would be tried one by one.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

use super::event::{Event, Moment};
use crate::random::mix;

/// What a service promises, one operation at a time. The default is the state in which every history begins.
pub trait Model: Copy + Debug + Default + Eq + Hash {
    type Call: Copy + Debug + Send;
    type Answer: Copy + Debug + Send;

    /// The state after the call, if the answer is one that this state gives. Any answer fits when none came.
    fn step(self, call: Self::Call, answer: Option<Self::Answer>) -> Option<Self>;

    /// Whether an operation with this answer changes nothing, whatever the state.
    fn is_inert(answer: &Self::Answer) -> bool;
}

type EventOf<M> = Event<<M as Model>::Call, <M as Model>::Answer>;

/// Far more than a sound history needs.
const MOST_STEPS: u64 = 20_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Linearizable,
    /// The farthest that any order came.
    Impossible(String),
    /// Too many orders to try; the farthest that any came.
    Undecided(String),
}

pub fn check<M: Model>(events: &[EventOf<M>]) -> Verdict {
    Search::<M>::new(events).run()
}

/// Calls and answers of the answered operations in order of time, as a list from which operations are lifted.
struct Timeline {
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
    fn new<C, A: Copy>(answered: &[&Event<C, A>]) -> Self {
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

    fn lift(&mut self, operation: usize) {
        for place in self.places[operation] {
            let (before, after) = (self.previous[place], self.next[place]);
            self.next[before] = after;
            self.previous[after] = before;
        }
    }

    /// Undoes the last `lift` that was not undone yet.
    fn put_back(&mut self, operation: usize) {
        let [call, answer] = self.places[operation];
        for place in [answer, call] {
            let (before, after) = (self.previous[place], self.next[place]);
            self.next[before] = place;
            self.previous[after] = place;
        }
    }

    /// The first answer that is still to be explained: nothing called after it can come before it.
    fn limit(&self) -> Option<Moment> {
        let mut place = self.next[HEAD];
        loop {
            match self.entries[place] {
                Entry::Answer(moment) => return Some(moment),
                Entry::Edge => return None,
                Entry::Call(_) => place = self.next[place],
            }
        }
    }
}

enum Taken {
    Yes,
    No,
    /// From here nothing leads to an end.
    DeadEnd,
}

/// Where the search for the next operation stands.
#[derive(Clone, Copy)]
enum Cursor {
    /// At this place of the timeline.
    Timeline(usize),
    /// At this one of the unanswered operations.
    Open(usize),
    /// Behind the last.
    End,
}

struct Frame<M> {
    chosen: Cursor,
    /// No other choice need be tried.
    only: bool,
    before: M,
    latest_before: Moment,
}

struct Search<'a, M: Model> {
    answered: Vec<&'a EventOf<M>>,
    /// By the moment of their call.
    open: Vec<&'a EventOf<M>>,
    open_used: Vec<bool>,
    timeline: Timeline,
    state: M,
    /// The latest call in the order so far: nothing that ended before it can follow.
    latest: Moment,
    chosen: Vec<Frame<M>>,
    /// Which operations are in the order so far, as a sum of random words.
    placed: u128,
    seen: HashSet<(u128, M)>,
    farthest: (usize, String),
}

impl<'a, M: Model> Search<'a, M> {
    fn new(events: &'a [EventOf<M>]) -> Self {
        let (answered, mut open): (Vec<&EventOf<M>>, Vec<&EventOf<M>>) =
            events.iter().partition(|event| event.answer.is_some());
        open.sort_unstable_by_key(|event| event.called);
        Self {
            timeline: Timeline::new(&answered),
            open_used: vec![false; open.len()],
            answered,
            open,
            state: M::default(),
            latest: 0,
            chosen: Vec::new(),
            placed: 0,
            seen: HashSet::new(),
            farthest: (0, String::new()),
        }
    }

    fn run(mut self) -> Verdict {
        let mut cursor = Cursor::Timeline(self.timeline.next[HEAD]);
        let mut left = self.answered.len();
        for _ in 0..MOST_STEPS {
            if left == 0 {
                return Verdict::Linearizable;
            }
            let taken = match cursor {
                Cursor::Timeline(place) => match self.timeline.entries[place] {
                    Entry::Call(operation) => {
                        let taken = self.take_answered(operation, cursor);
                        left -= usize::from(matches!(taken, Taken::Yes));
                        cursor = Cursor::Timeline(self.timeline.next[place]);
                        taken
                    }
                    Entry::Answer(_) | Entry::Edge => {
                        self.note(left);
                        cursor = Cursor::Open(0);
                        Taken::No
                    }
                },
                Cursor::Open(index) if self.may_come(index) => {
                    let taken = self.take_open(index, cursor);
                    cursor = Cursor::Open(index + 1);
                    taken
                }
                Cursor::Open(_) | Cursor::End => {
                    let Some(frame) = self.chosen.pop() else {
                        return Verdict::Impossible(self.farthest.1);
                    };
                    left += usize::from(matches!(frame.chosen, Cursor::Timeline(_)));
                    let next = self.undo(&frame);
                    cursor = if frame.only { Cursor::End } else { next };
                    Taken::No
                }
            };
            match taken {
                Taken::Yes => cursor = Cursor::Timeline(self.timeline.next[HEAD]),
                Taken::DeadEnd => cursor = Cursor::End,
                Taken::No => {}
            }
        }
        Verdict::Undecided(self.farthest.1)
    }

    fn take_answered(&mut self, operation: usize, cursor: Cursor) -> Taken {
        let event = self.answered[operation];
        let Some(next) = self.state.step(event.call, event.answer.map(|(answer, _)| answer)) else {
            return Taken::No;
        };
        let inert = event.answer.is_some_and(|(answer, _)| M::is_inert(&answer));
        let only = inert && self.excludes_nothing(event.called);
        if !self.enter(next, event.called, word(operation, 0), cursor, only) {
            return if only { Taken::DeadEnd } else { Taken::No };
        }
        self.timeline.lift(operation);
        Taken::Yes
    }

    /// Whether every unanswered operation that may come now may still come after one that was called at this moment.
    fn excludes_nothing(&self, called: Moment) -> bool {
        let open = self.open.iter().zip(&self.open_used);
        !open.into_iter().any(|(event, used)| !used && (self.latest..called).contains(&event.until))
    }

    fn may_come(&self, index: usize) -> bool {
        let limit = self.timeline.limit();
        self.open.get(index).is_some_and(|event| limit.is_some_and(|limit| event.called <= limit))
    }

    fn take_open(&mut self, index: usize, cursor: Cursor) -> Taken {
        let event = self.open[index];
        if self.open_used[index] || event.until < self.latest {
            return Taken::No;
        }
        let Some(next) = self.state.step(event.call, None) else { return Taken::No };
        if next == self.state || !self.enter(next, event.called, word(index, 1), cursor, false) {
            return Taken::No;
        }
        self.open_used[index] = true;
        Taken::Yes
    }

    /// False when the same operations, in another order, have led to the same state before, and to nothing.
    fn enter(&mut self, next: M, called: Moment, word: u128, cursor: Cursor, only: bool) -> bool {
        let placed = self.placed.wrapping_add(word);
        if !self.seen.insert((placed, next)) {
            return false;
        }
        self.placed = placed;
        self.chosen.push(Frame { chosen: cursor, only, before: self.state, latest_before: self.latest });
        self.state = next;
        self.latest = self.latest.max(called);
        true
    }

    /// The place at which to go on looking.
    fn undo(&mut self, frame: &Frame<M>) -> Cursor {
        self.state = frame.before;
        self.latest = frame.latest_before;
        match frame.chosen {
            Cursor::Timeline(place) => {
                if let Entry::Call(operation) = self.timeline.entries[place] {
                    self.timeline.put_back(operation);
                    self.placed = self.placed.wrapping_sub(word(operation, 0));
                }
                Cursor::Timeline(self.timeline.next[place])
            }
            Cursor::Open(index) => {
                self.open_used[index] = false;
                self.placed = self.placed.wrapping_sub(word(index, 1));
                Cursor::Open(index + 1)
            }
            Cursor::End => Cursor::End,
        }
    }

    fn note(&mut self, left: usize) {
        let explained = self.answered.len() - left;
        if explained <= self.farthest.0 && !self.farthest.1.is_empty() {
            return;
        }
        let mut waiting = Vec::new();
        let mut place = self.timeline.next[HEAD];
        while let Entry::Call(operation) = self.timeline.entries[place] {
            waiting.push(format!("{:?}", self.answered[operation]));
            place = self.timeline.next[place];
        }
        let state = self.state;
        let text =
            format!("{explained} explained, then {state:?} does not explain any of: {}", waiting.join("; "));
        self.farthest = (explained, text);
    }
}

/// A random word for an operation.
fn word(index: usize, kind: u64) -> u128 {
    let seed = (index as u64) << 1 | kind;
    u128::from(mix(seed.wrapping_add(0x9E37_79B9_7F4A_7C15))) << 64 | u128::from(mix(!seed))
}

#[cfg(test)]
mod tests;
