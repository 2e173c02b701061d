//! Recorded histories are changed in ways that make them impossible for certain; each must then be rejected. So a
//! history that passes has passed a judge who was awake. To reject is to try every order, so it is done with the
//! beginning of a history: a beginning of a possible history is possible.

use super::checker::{Verdict, check};
use super::event::{Answer, Call, Condition, Event, Moment, Version};
use crate::Trial;

const BEGINNING: usize = 250;

/// How many were tried; an error when one was accepted.
pub fn all_rejected(events: &[Event]) -> Trial<usize> {
    let events = beginning(events);
    if check(&events) != Verdict::Linearizable {
        return Err("the beginning of a possible history is not possible: the judge errs".to_owned());
    }
    let tampered = [
        ("a compare-and-swap that won twice", won_twice(&events)),
        ("a reading of what was replaced before", stale(&events)),
        ("a reading of what nobody wrote", invented(&events)),
    ];
    let mut tried = 0;
    for (what, events) in tampered {
        let Some(events) = events else { continue };
        tried += 1;
        match check(&events) {
            Verdict::Impossible(_) => {}
            verdict => return Err(format!("tampered with, and not rejected but {verdict:?}: {what}")),
        }
    }
    Ok(tried)
}

/// What was known at some moment: what was not answered by then is open.
fn beginning(events: &[Event]) -> Vec<Event> {
    let mut calls: Vec<Moment> = events.iter().map(|event| event.called).collect();
    calls.sort_unstable();
    let end = calls.get(BEGINNING).copied().unwrap_or(Moment::MAX);
    let mut known = Vec::new();
    for event in events.iter().filter(|event| event.called < end) {
        match event.answer {
            Some((_, moment)) if moment >= end && event.call == Call::Get => {}
            Some((_, moment)) if moment >= end => known.push(Event { answer: None, ..*event }),
            _ => known.push(*event),
        }
    }
    known
}

/// The version that a write replaced, with the write's own and the moment of its answer.
fn replaced(event: &Event) -> Option<(Version, u64)> {
    match (event.call, event.answer) {
        (Call::Put { condition: Condition::IfMatch(old), .. }, Some((Answer::Done, moment))) => {
            Some((old, moment))
        }
        _ => None,
    }
}

fn won_twice(events: &[Event]) -> Option<Vec<Event>> {
    let won = events.iter().find(|event| replaced(event).is_some())?;
    let Call::Put { condition, lease, .. } = won.call else { return None };
    let again = Call::Put { new: Version::MAX, condition, lease };
    Some(events.iter().copied().chain([Event { call: again, ..*won }]).collect())
}

fn stale(events: &[Event]) -> Option<Vec<Event>> {
    let reading = |event: &&Event| matches!(event.answer, Some((Answer::Seen(..), _)));
    let last = events.iter().filter(reading).max_by_key(|event| event.called)?;
    let (old, _) = events.iter().filter_map(replaced).find(|(_, moment)| *moment < last.called)?;
    Some(with_reading(events, last, old))
}

fn invented(events: &[Event]) -> Option<Vec<Event>> {
    let reading = events.iter().find(|event| matches!(event.answer, Some((Answer::Seen(..), _))))?;
    Some(with_reading(events, reading, Version::MAX))
}

fn with_reading(events: &[Event], place: &Event, version: Version) -> Vec<Event> {
    let change = |event: &Event| match event.answer {
        Some((Answer::Seen(_, lease), moment)) if event == place => {
            Event { answer: Some((Answer::Seen(version, lease), moment)), ..*event }
        }
        _ => *event,
    };
    events.iter().map(change).collect()
}
