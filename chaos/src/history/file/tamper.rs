//! Histories of files, made impossible.

use super::call::{Answer, Call, Event, Version};
use super::model::Directory;
use crate::Trial;
use crate::history::tamper;

/// How many were tried; an error when one was accepted.
pub fn all_rejected(events: &[Event]) -> Trial<usize> {
    let events = tamper::beginning::<Directory>(events, Call::reads)?;
    tamper::rejected::<Directory>([
        ("a reading of what nobody wrote", invented(&events)),
        ("a file that was there before it was created", early(&events)),
    ])
}

fn is_reading(event: &&Event) -> bool {
    matches!(event.answer, Some((Answer::Seen(_), _)))
}

/// The first reading of all, and what was asked before it was answered: to reject is to try every order.
fn invented(events: &[Event]) -> Option<Vec<Event>> {
    let answered = |event: &Event| event.answer.map_or(u64::MAX, |(_, moment)| moment);
    let reading = events.iter().filter(is_reading).min_by_key(|event| answered(event))?;
    let end = answered(reading);
    let known = events.iter().filter(|event| event.called <= end);
    let change = |event: &Event| match event.answer {
        _ if event == reading => Event { answer: Some((Answer::Seen(Version::MAX), end)), ..*event },
        Some((_, moment)) if moment > end => Event { answer: None, ..*event },
        _ => *event,
    };
    Some(known.map(change).collect())
}

/// Somebody read a file before anything else was asked.
fn early(events: &[Event]) -> Option<Vec<Event>> {
    let first = events.iter().map(|event| event.called).min()?;
    let reading = events.iter().find(is_reading)?;
    let (seen, _) = reading.answer?;
    let early = Event { called: 0, answer: Some((seen, first.checked_sub(1)?)), ..*reading };
    Some(events.iter().copied().chain([early]).collect())
}
