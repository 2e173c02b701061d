//! Histories of blobs, made impossible.

use super::call::{Answer, Call, Condition, Event, Version};
use super::model::Blob;
use crate::Trial;
use crate::history::tamper;

/// How many were tried; an error when one was accepted.
pub fn all_rejected(events: &[Event]) -> Trial<usize> {
    let events = tamper::beginning::<Blob>(events, Call::reads)?;
    tamper::rejected::<Blob>([
        ("a compare-and-swap that won twice", won_twice(&events)),
        ("a reading of what was replaced before", stale(&events)),
        ("a reading of what nobody wrote", invented(&events)),
    ])
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
