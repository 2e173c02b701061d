//! The operations that were never answered.
//!
//! After a kill there may be twenty of them, in any order and any choice. Most of these orders come to the same: what counts is the
//! state and which operations are left. So the search tries runs of them, the short ones first, and of the runs that lead
//! to one state only those that use no operation for nothing.

use std::collections::HashMap;
use std::ops::Range;

use super::memory::Spent;
use super::{EventOf, Model};
use crate::history::event::Moment;

/// Operations, one after the other, by their numbers.
pub type Run = Vec<usize>;

/// So many runs are tried at one place.
const MOST_RUNS: usize = 20_000;

pub struct Unanswered<'a, M: Model> {
    /// By the moment of their call.
    events: Vec<&'a EventOf<M>>,
    used: Vec<bool>,
    /// Their ends, in order.
    ends: Vec<Moment>,
}

/// Where a run leads.
#[derive(Clone)]
struct Reached<M> {
    run: Run,
    state: M,
    latest: Moment,
}

impl<'a, M: Model> Unanswered<'a, M> {
    pub fn new(mut events: Vec<&'a EventOf<M>>) -> Self {
        events.sort_unstable_by_key(|event| event.called);
        let mut ends: Vec<Moment> = events.iter().map(|event| event.until).collect();
        ends.sort_unstable();
        Self { used: vec![false; events.len()], events, ends }
    }

    /// Whether one that may still come is over at the end of this time.
    pub fn any_ends_in(&self, time: Range<Moment>) -> bool {
        let events = self.events.iter().zip(&self.used);
        events.into_iter().any(|(event, used)| !used && time.contains(&event.until))
    }

    pub fn use_up(&mut self, run: &Run, is_used: bool) {
        for index in run {
            if let Some(used) = self.used.get_mut(*index) {
                *used = is_used;
            }
        }
    }

    pub fn spent(&self, latest: Moment) -> Spent {
        let over = self.ends.partition_point(|end| *end < latest);
        let used = self.events.iter().zip(&self.used).enumerate();
        let used = used.filter(|(_, (event, used))| **used && event.until >= latest);
        Spent { latest, over, used: used.map(|(index, (event, _))| (index, event.until)).collect() }
    }

    /// Where a run leads from here, if each of its operations may come and changes something.
    pub fn walk(&self, run: &Run, state: M, latest: Moment) -> Option<(M, Moment)> {
        run.iter().try_fold((state, latest), |(state, latest), index| self.step(*index, state, latest))
    }

    fn step(&self, index: usize, state: M, latest: Moment) -> Option<(M, Moment)> {
        let event = self.events.get(index)?;
        let next = state.step(event.call, None).filter(|next| *next != state)?;
        (event.until >= latest).then_some((next, latest.max(event.called)))
    }

    /// The runs of so many operations at most that were called up to the limit, by their lengths; and whether there are
    /// more of them.
    pub fn runs(&self, state: M, latest: Moment, limit: Moment, longest: usize) -> (Vec<Run>, bool) {
        let callable = self.events.partition_point(|event| event.called <= limit);
        let at_hand = |index: &usize| !self.used[*index] && self.events[*index].until >= latest;
        let at_hand: Vec<usize> = (0..callable).filter(at_hand).collect();
        let mut known: HashMap<M, Vec<(Run, Moment)>> = HashMap::new();
        known.insert(state, vec![(Run::new(), latest)]);
        let mut ends = vec![Reached { run: Run::new(), state, latest }];
        let mut runs = Vec::new();
        for _ in 0..longest {
            if ends.is_empty() {
                break;
            }
            let mut longer = Vec::new();
            for end in &ends {
                for index in at_hand.iter().copied().filter(|index| !end.run.contains(index)) {
                    let Some((state, latest)) = self.step(index, end.state, end.latest) else { continue };
                    let known = known.entry(state).or_default();
                    let is_known = |(run, at): &(Run, Moment)| {
                        *at <= latest && run.iter().all(|used| *used == index || end.run.contains(used))
                    };
                    if known.iter().any(is_known) {
                        continue;
                    }
                    let run: Run = end.run.iter().copied().chain([index]).collect();
                    known.push((run.clone(), latest));
                    if runs.len() == MOST_RUNS {
                        return (runs, true);
                    }
                    runs.push(run.clone());
                    longer.push(Reached { run, state, latest });
                }
            }
            ends = longer;
        }
        (runs, false)
    }
}
