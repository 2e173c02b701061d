//! The judge is judged: small histories of which a person can say whether they are possible.

use super::checker::{Model, Verdict, check};
use super::event::{Event, Moment};
use super::hint::Hints;
use crate::Trial;

/// Called at the first moment, answered at the second.
pub fn told<C, A>(from: Moment, to: Moment, call: C, answer: A) -> Event<C, A> {
    Event { call, called: from, answer: Some((answer, to)), until: Moment::MAX, hints: Hints::default() }
}

pub fn unanswered<C, A>(from: Moment, call: C) -> Event<C, A> {
    Event { call, called: from, answer: None, until: Moment::MAX, hints: Hints::default() }
}

/// Its server died at the second moment.
pub fn died<C, A>(from: Moment, until: Moment, call: C) -> Event<C, A> {
    Event { call, called: from, answer: None, until, hints: Hints::default() }
}

type Named<M> = (&'static str, Vec<Event<<M as Model>::Call, <M as Model>::Answer>>);

/// How many there were of each kind.
pub fn judge<M: Model>(impossible: &[Named<M>], possible: &[Named<M>]) -> Trial<(usize, usize)> {
    for (name, events) in impossible {
        if !matches!(check::<M>(events), Verdict::Impossible(_)) {
            return Err(format!("an impossible history was accepted: {name}"));
        }
    }
    for (name, events) in possible {
        let (Verdict::Impossible(reason) | Verdict::Undecided(reason)) = check::<M>(events) else { continue };
        return Err(format!("a possible history was rejected: {name}: {reason}"));
    }
    Ok((impossible.len(), possible.len()))
}
