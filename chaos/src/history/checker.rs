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
//!
//! Of the others, the one that was answered first is tried first. Who waits long in a line takes effect shortly before its
//! answer, so this is mostly right; with the one that was called first, a wrong choice among those who wait long shows so late that too
//! many orders lie behind it.

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

/// Steps for each operation, and for all; far more than a sound history needs.
const MOST_STEPS: [usize; 2] = [100, 10_000_000];

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

    /// The operations that were called before the first answer that is still to be explained, by the moments of their
    /// answers; and that answer: nothing called after it can come before it.
    fn candidates(&self, into: &mut Vec<usize>) -> Option<Moment> {
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
        into.sort_unstable_by_key(|operation| self.places[*operation][1]);
        limit
    }
}

/// Where the search for the next operation stands.
#[derive(Clone, Copy)]
enum Cursor {
    /// Nothing was tried yet.
    Start,
    /// At this one of the candidates.
    Answered(usize),
    /// At this one of the unanswered operations.
    Open(usize),
    /// Behind the last.
    End,
}

#[derive(Clone, Copy)]
enum Choice {
    /// For good: no other need be tried.
    Only(usize),
    /// The operation, and its place among the candidates.
    Answered(usize, usize),
    Open(usize),
}

struct Frame<M> {
    choice: Choice,
    before: M,
    latest_before: Moment,
}

struct Search<'a, M: Model> {
    answered: Vec<&'a EventOf<M>>,
    /// By the moment of their call.
    open: Vec<&'a EventOf<M>>,
    open_used: Vec<bool>,
    timeline: Timeline,
    /// Of the timeline as it is.
    candidates: Vec<usize>,
    limit: Option<Moment>,
    state: M,
    /// The latest call in the order so far: nothing that ended before it can follow.
    latest: Moment,
    chosen: Vec<Frame<M>>,
    /// How many of these were answered.
    explained: usize,
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
            candidates: Vec::new(),
            limit: None,
            state: M::default(),
            latest: 0,
            chosen: Vec::new(),
            explained: 0,
            placed: 0,
            seen: HashSet::new(),
            farthest: (0, String::new()),
        }
    }

    fn run(mut self) -> Verdict {
        let [each, all] = MOST_STEPS;
        self.look();
        let mut cursor = Cursor::Start;
        for _ in 0..all + each * self.answered.len() {
            if self.candidates.is_empty() {
                return Verdict::Linearizable;
            }
            cursor = match cursor {
                Cursor::Start => {
                    match self.candidates.iter().copied().find(|operation| self.fits_for_good(*operation)) {
                        None => Cursor::Answered(0),
                        Some(operation) if self.take(Choice::Only(operation)) => Cursor::Start,
                        Some(_) => Cursor::End,
                    }
                }
                Cursor::Answered(rank) => match self.candidates.get(rank).copied() {
                    Some(operation) if self.take(Choice::Answered(operation, rank)) => Cursor::Start,
                    Some(_) => Cursor::Answered(rank + 1),
                    None => {
                        self.note();
                        Cursor::Open(0)
                    }
                },
                Cursor::Open(index) if self.may_come(index) => {
                    if self.take(Choice::Open(index)) {
                        Cursor::Start
                    } else {
                        Cursor::Open(index + 1)
                    }
                }
                Cursor::Open(_) | Cursor::End => match self.undo() {
                    None => return Verdict::Impossible(self.farthest.1),
                    Some(Choice::Only(_)) => Cursor::End,
                    Some(Choice::Answered(_, rank)) => Cursor::Answered(rank + 1),
                    Some(Choice::Open(index)) => Cursor::Open(index + 1),
                },
            };
        }
        Verdict::Undecided(self.farthest.1)
    }

    /// To be called whenever the timeline has changed.
    fn look(&mut self) {
        self.limit = self.timeline.candidates(&mut self.candidates);
    }

    fn fits_for_good(&self, operation: usize) -> bool {
        let Event { call, answer, called, .. } = *self.answered[operation];
        let fits = |(answer, _)| M::is_inert(&answer) && self.state.step(call, Some(answer)).is_some();
        answer.is_some_and(fits) && self.excludes_nothing(called)
    }

    /// Whether every unanswered operation that may come now may still come after one that was called at this moment.
    fn excludes_nothing(&self, called: Moment) -> bool {
        let open = self.open.iter().zip(&self.open_used);
        !open.into_iter().any(|(event, used)| !used && (self.latest..called).contains(&event.until))
    }

    fn may_come(&self, index: usize) -> bool {
        self.open.get(index).is_some_and(|event| self.limit.is_some_and(|limit| event.called <= limit))
    }

    /// Puts it next. False when it does not fit, or when the same operations, in another order, have led to the same
    /// state before, and to nothing.
    fn take(&mut self, choice: Choice) -> bool {
        let (event, word) = match choice {
            Choice::Only(operation) | Choice::Answered(operation, _) => {
                (self.answered[operation], word(operation, 0))
            }
            Choice::Open(index) if self.open_used[index] || self.open[index].until < self.latest => {
                return false;
            }
            Choice::Open(index) => (self.open[index], word(index, 1)),
        };
        let Some(next) = self.state.step(event.call, event.answer.map(|(answer, _)| answer)) else {
            return false;
        };
        let idle = event.answer.is_none() && next == self.state;
        if idle || !self.seen.insert((self.placed.wrapping_add(word), next)) {
            return false;
        }
        self.placed = self.placed.wrapping_add(word);
        self.chosen.push(Frame { choice, before: self.state, latest_before: self.latest });
        self.state = next;
        self.latest = self.latest.max(event.called);
        match choice {
            Choice::Only(operation) | Choice::Answered(operation, _) => {
                self.timeline.lift(operation);
                self.look();
                self.explained += 1;
            }
            Choice::Open(index) => self.open_used[index] = true,
        }
        true
    }

    /// Takes the last choice back; none when there is no other order to try.
    fn undo(&mut self) -> Option<Choice> {
        let Frame { choice, before, latest_before } = self.chosen.pop()?;
        self.state = before;
        self.latest = latest_before;
        match choice {
            Choice::Only(operation) | Choice::Answered(operation, _) => {
                self.timeline.put_back(operation);
                self.look();
                self.explained -= 1;
                self.placed = self.placed.wrapping_sub(word(operation, 0));
            }
            Choice::Open(index) => {
                self.open_used[index] = false;
                self.placed = self.placed.wrapping_sub(word(index, 1));
            }
        }
        Some(choice)
    }

    fn note(&mut self) {
        let explained = self.explained;
        if explained <= self.farthest.0 && !self.farthest.1.is_empty() {
            return;
        }
        let waiting = self.candidates.iter().map(|operation| format!("{:?}", self.answered[*operation]));
        let waiting = waiting.collect::<Vec<_>>().join("; ");
        let state = self.state;
        let text = format!("{explained} explained, then {state:?} does not explain any of: {waiting}");
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
