//! Is there one order of the operations, each at some moment between its call and its answer, in which the model
//! gives every answer that was given? The search is Wing and Gong's with Lowe's memory of dead ends: an operation is
//! put next if nothing else was answered before it was called; where no operation fits, the last choice is undone.
//!
//! An operation that was never answered may come at any later moment of its server's life or not at all, so it is
//! tried last, and only where it would change something (`unanswered.rs`). Nothing can be wrongly accepted: an accepted order has been
//! walked through the model step by step.
//!
//! A reading or a refusal that fits is put at once and for good: in any order where it comes later it could as well come
//! here. Without this rule the many ways to mix refusals would be tried one by one.
//!
//! Of the others the ETags tell which came first (`order.rs`). An order that is not theirs is looked for only when there is
//! none that is: a wrong choice among those who wait long shows late, and by then too many orders lie behind it.

mod memory;
mod order;
mod timeline;
mod unanswered;

use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;

use super::event::{Event, Moment};
use crate::random::mix;
use memory::Memory;
use order::{Order, Trust};
use timeline::Timeline;
use unanswered::{Run, Unanswered};

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

/// Steps of one search, for each operation and for all; far more than a sound history needs.
const MOST_STEPS: [usize; 2] = [100, 10_000_000];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Linearizable,
    /// The farthest that any order came.
    Impossible(String),
    /// Too many orders to try; the farthest that any came.
    Undecided(String),
}

/// What one search is led by, and how long the runs of unanswered operations are that it tries at one place.
type Way = (Trust, usize);

/// What an unanswered operation did is mostly hidden by another before anybody can see it, so that few are needed at one
/// place: with short runs a wrong choice shows before long ones have been tried behind it.
const BY_ETAGS: [Way; 3] = [(Trust::Strict, 1), (Trust::Strict, 2), (Trust::Strict, usize::MAX)];
const BY_LIKELIHOOD: [Way; 2] = [(Trust::First, usize::MAX), (Trust::None, usize::MAX)];

/// First in the order of the ETags, which is nearly always the one; then in any order, the likely ones first.
pub fn check<M: Model>(events: &[EventOf<M>]) -> Verdict {
    let is_led = events.iter().any(|event| event.hints.iter().any(Option::is_some));
    if is_led && BY_ETAGS.into_iter().any(|way| Search::<M>::new(events, way).run() == Verdict::Linearizable)
    {
        return Verdict::Linearizable;
    }
    let mut verdict = Verdict::Undecided(String::new());
    for way in BY_LIKELIHOOD {
        verdict = Search::<M>::new(events, way).run();
        if !is_led || !matches!(verdict, Verdict::Undecided(_)) {
            break;
        }
    }
    verdict
}

/// Where the search for the next operation stands.
#[derive(Clone)]
enum Cursor {
    /// Nothing was tried yet.
    Start,
    /// At this one of the candidates.
    Answered(usize),
    /// No answered operation fits.
    Stuck,
    /// At this one of the runs of unanswered operations.
    Unanswered(Rc<[Run]>, usize),
    /// Behind the last.
    End,
}

#[derive(Clone)]
enum Choice {
    /// For good: no other need be tried.
    Only(usize),
    /// The operation, and its place among the candidates.
    Answered(usize, usize),
    /// One of these runs.
    Unanswered(Rc<[Run]>, usize),
}

struct Frame<M> {
    choice: Choice,
    before: M,
    latest_before: Moment,
}

struct Search<'a, M: Model> {
    answered: Vec<&'a EventOf<M>>,
    unanswered: Unanswered<'a, M>,
    timeline: Timeline,
    order: Order,
    /// Of the timeline as it is.
    candidates: Vec<usize>,
    limit: Option<Moment>,
    state: M,
    /// The latest call in the order so far: nothing that ended before it can follow.
    latest: Moment,
    chosen: Vec<Frame<M>>,
    /// How many of these were answered.
    explained: usize,
    /// Which answered operations are in the order so far, as a sum of random words.
    placed: u128,
    memory: Memory<M>,
    farthest: (usize, String),
    /// Some runs of unanswered operations were not tried: there were too many.
    is_cut: bool,
    /// No longer runs of unanswered operations are tried at one place.
    longest_run: usize,
}

impl<'a, M: Model> Search<'a, M> {
    fn new(events: &'a [EventOf<M>], (trust, longest_run): Way) -> Self {
        let (answered, unanswered): (Vec<&EventOf<M>>, Vec<&EventOf<M>>) =
            events.iter().partition(|event| event.answer.is_some());
        Self {
            timeline: Timeline::new(&answered),
            order: Order::new(&answered, trust),
            answered,
            unanswered: Unanswered::new(unanswered),
            candidates: Vec::new(),
            limit: None,
            state: M::default(),
            latest: 0,
            chosen: Vec::new(),
            explained: 0,
            placed: 0,
            memory: Memory::default(),
            farthest: (0, String::new()),
            is_cut: false,
            longest_run,
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
                    None => Cursor::Stuck,
                },
                Cursor::Stuck => {
                    self.note();
                    match self.chosen.last() {
                        // Those that could follow have been tried together with it.
                        Some(Frame { choice: Choice::Unanswered(..), .. }) => Cursor::End,
                        _ => Cursor::Unanswered(self.runs(), 0),
                    }
                }
                Cursor::Unanswered(runs, rank) if rank < runs.len() => {
                    if self.take(Choice::Unanswered(Rc::clone(&runs), rank)) {
                        Cursor::Start
                    } else {
                        Cursor::Unanswered(runs, rank + 1)
                    }
                }
                Cursor::Unanswered(..) | Cursor::End => match self.undo() {
                    None if self.is_cut => break,
                    None => return Verdict::Impossible(self.farthest.1),
                    Some(Choice::Only(_)) => Cursor::End,
                    Some(Choice::Answered(_, rank)) => Cursor::Answered(rank + 1),
                    Some(Choice::Unanswered(runs, rank)) => Cursor::Unanswered(runs, rank + 1),
                },
            };
        }
        Verdict::Undecided(self.farthest.1)
    }

    /// To be called whenever the timeline has changed.
    fn look(&mut self) {
        self.limit = self.timeline.candidates(&self.order, &mut self.candidates);
    }

    fn fits_for_good(&self, operation: usize) -> bool {
        let Event { call, answer, called, .. } = *self.answered[operation];
        let fits = |(answer, _)| {
            M::is_inert(&answer)
                && self.order.allows(operation)
                && self.state.step(call, Some(answer)).is_some()
        };
        answer.is_some_and(fits) && !self.unanswered.any_ends_in(self.latest..called)
    }

    fn runs(&mut self) -> Rc<[Run]> {
        let Some(limit) = self.limit else { return Rc::default() };
        let (runs, is_cut) = self.unanswered.runs(self.state, self.latest, limit, self.longest_run);
        self.is_cut |= is_cut;
        runs.into()
    }

    /// Puts it next. False when it does not fit, or when the same operations, in another order, have led to the same
    /// state before, and to nothing.
    fn take(&mut self, choice: Choice) -> bool {
        let before = Frame { choice, before: self.state, latest_before: self.latest };
        match &before.choice {
            Choice::Only(operation) | Choice::Answered(operation, _) => {
                let operation = *operation;
                if !self.order.allows(operation) {
                    return false;
                }
                let Event { call, called, answer, .. } = *self.answered[operation];
                let Some(next) = self.state.step(call, answer.map(|(answer, _)| answer)) else {
                    return false;
                };
                let (placed, latest) = (self.placed.wrapping_add(word(operation)), self.latest.max(called));
                if !self.memory.is_new((placed, next), self.unanswered.spent(latest)) {
                    return false;
                }
                (self.state, self.placed, self.latest) = (next, placed, latest);
                self.timeline.lift(operation);
                self.order.place(operation);
                self.look();
                self.explained += 1;
            }
            Choice::Unanswered(runs, rank) => {
                let Some(run) = runs.get(*rank) else { return false };
                let Some((next, latest)) = self.unanswered.walk(run, self.state, self.latest) else {
                    return false;
                };
                self.unanswered.use_up(run, true);
                if !self.memory.is_new((self.placed, next), self.unanswered.spent(latest)) {
                    self.unanswered.use_up(run, false);
                    return false;
                }
                (self.state, self.latest) = (next, latest);
            }
        }
        self.chosen.push(before);
        true
    }

    /// Takes the last choice back; none when there is no other order to try.
    fn undo(&mut self) -> Option<Choice> {
        let Frame { choice, before, latest_before } = self.chosen.pop()?;
        self.state = before;
        self.latest = latest_before;
        match &choice {
            Choice::Only(operation) | Choice::Answered(operation, _) => {
                self.timeline.put_back(*operation);
                self.order.put_back(*operation);
                self.look();
                self.explained -= 1;
                self.placed = self.placed.wrapping_sub(word(*operation));
            }
            Choice::Unanswered(runs, rank) => {
                if let Some(run) = runs.get(*rank) {
                    self.unanswered.use_up(run, false);
                }
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
fn word(index: usize) -> u128 {
    let seed = index as u64;
    u128::from(mix(seed.wrapping_add(0x9E37_79B9_7F4A_7C15))) << 64 | u128::from(mix(!seed))
}

#[cfg(test)]
mod tests;
