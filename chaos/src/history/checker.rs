//! Is there one order of the operations, each at some moment between its call and its answer, in which the model
//! gives every answer that was given? The search is Wing and Gong's with Lowe's memory of dead ends: an operation is
//! put next if nothing else was answered before it was called; where no operation fits, the last choice is undone.
//!
//! An operation that was never answered may come at any later moment of its server's life or not at all, so it is
//! tried last, and only where it would change something. Nothing can be wrongly accepted: an accepted order has been walked through
//! the model step by step.

use std::collections::HashSet;

use super::event::{Event, Moment};
use super::model::Blob;
use crate::random::mix;

/// Far more than a sound history needs.
const MOST_STEPS: u64 = 20_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Linearizable,
    /// The farthest that any order came.
    Impossible(String),
    Undecided,
}

pub fn check(events: &[Event]) -> Verdict {
    Search::new(events).run()
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
    fn new(answered: &[&Event]) -> Self {
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

/// Where the search for the next operation stands.
#[derive(Clone, Copy)]
enum Cursor {
    /// At this place of the timeline.
    Timeline(usize),
    /// At this one of the unanswered operations.
    Open(usize),
}

struct Frame {
    chosen: Cursor,
    before: Blob,
    latest_before: Moment,
}

struct Search<'a> {
    answered: Vec<&'a Event>,
    /// By the moment of their call.
    open: Vec<&'a Event>,
    open_used: Vec<bool>,
    timeline: Timeline,
    state: Blob,
    /// The latest call in the order so far: nothing that ended before it can follow.
    latest: Moment,
    chosen: Vec<Frame>,
    /// Which operations are in the order so far, as a sum of random words.
    placed: u128,
    seen: HashSet<(u128, Blob)>,
    farthest: (usize, String),
}

impl<'a> Search<'a> {
    fn new(events: &'a [Event]) -> Self {
        let (answered, mut open): (Vec<&Event>, Vec<&Event>) =
            events.iter().partition(|event| event.answer.is_some());
        open.sort_unstable_by_key(|event| event.called);
        Self {
            timeline: Timeline::new(&answered),
            open_used: vec![false; open.len()],
            answered,
            open,
            state: Blob::default(),
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
                        left -= usize::from(taken);
                        cursor = Cursor::Timeline(self.timeline.next[place]);
                        taken
                    }
                    Entry::Answer(_) | Entry::Edge => {
                        self.note(left);
                        cursor = Cursor::Open(0);
                        false
                    }
                },
                Cursor::Open(index) if self.may_come(index) => {
                    let taken = self.take_open(index, cursor);
                    cursor = Cursor::Open(index + 1);
                    taken
                }
                Cursor::Open(_) => {
                    let Some(frame) = self.chosen.pop() else {
                        return Verdict::Impossible(self.farthest.1);
                    };
                    left += usize::from(matches!(frame.chosen, Cursor::Timeline(_)));
                    cursor = self.undo(&frame);
                    false
                }
            };
            if taken {
                cursor = Cursor::Timeline(self.timeline.next[HEAD]);
            }
        }
        Verdict::Undecided
    }

    fn take_answered(&mut self, operation: usize, cursor: Cursor) -> bool {
        let event = self.answered[operation];
        let Some(next) = self.state.step(event.call, event.answer.map(|(answer, _)| answer)) else {
            return false;
        };
        if !self.enter(next, event.called, word(operation, 0), cursor) {
            return false;
        }
        self.timeline.lift(operation);
        true
    }

    fn may_come(&self, index: usize) -> bool {
        let limit = self.timeline.limit();
        self.open.get(index).is_some_and(|event| limit.is_some_and(|limit| event.called <= limit))
    }

    fn take_open(&mut self, index: usize, cursor: Cursor) -> bool {
        let event = self.open[index];
        if self.open_used[index] || event.until < self.latest {
            return false;
        }
        let Some(next) = self.state.step(event.call, None) else { return false };
        if next == self.state || !self.enter(next, event.called, word(index, 1), cursor) {
            return false;
        }
        self.open_used[index] = true;
        true
    }

    /// False when the same operations, in another order, have led to the same state before, and to nothing.
    fn enter(&mut self, next: Blob, called: Moment, word: u128, cursor: Cursor) -> bool {
        let placed = self.placed.wrapping_add(word);
        if !self.seen.insert((placed, next)) {
            return false;
        }
        self.placed = placed;
        self.chosen.push(Frame { chosen: cursor, before: self.state, latest_before: self.latest });
        self.state = next;
        self.latest = self.latest.max(called);
        true
    }

    /// The place at which to go on looking.
    fn undo(&mut self, frame: &Frame) -> Cursor {
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
