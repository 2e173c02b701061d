//! Recorded histories are changed in ways that make them impossible for certain; each must then be rejected. So a
//! history that passes has passed a judge who was awake. To reject is to try every order, so it is done with the
//! beginning of a history: a beginning of a possible history is possible.

use super::checker::{Model, Verdict, check};
use super::event::{Event, Moment};
use crate::Trial;

const BEGINNING: usize = 250;

type EventOf<M> = Event<<M as Model>::Call, <M as Model>::Answer>;
type Events<M> = Vec<EventOf<M>>;

/// What was known at some moment: what was not answered by then is open, or, if it only reads, nothing.
pub fn beginning<M: Model>(events: &[EventOf<M>], reads: impl Fn(&M::Call) -> bool) -> Trial<Events<M>> {
    let mut calls: Vec<Moment> = events.iter().map(|event| event.called).collect();
    calls.sort_unstable();
    let end = calls.get(BEGINNING).copied().unwrap_or(Moment::MAX);
    let mut known = Vec::new();
    for event in events.iter().filter(|event| event.called < end) {
        match event.answer {
            Some((_, moment)) if moment >= end && reads(&event.call) => {}
            Some((_, moment)) if moment >= end => known.push(Event { answer: None, ..*event }),
            _ => known.push(*event),
        }
    }
    match check::<M>(&known) {
        Verdict::Linearizable => Ok(known),
        _ => Err("the beginning of a possible history is not possible: the judge errs".to_owned()),
    }
}

/// How many there were; an error when one was accepted.
pub fn rejected<M: Model>(
    tampered: impl IntoIterator<Item = (&'static str, Option<Events<M>>)>,
) -> Trial<usize> {
    let mut tried = 0;
    for (what, events) in tampered {
        let Some(events) = events else { continue };
        tried += 1;
        match check::<M>(&events) {
            Verdict::Impossible(_) => {}
            verdict => return Err(format!("tampered with, and not rejected but {verdict:?}: {what}")),
        }
    }
    Ok(tried)
}
