//! Histories of append blobs, made impossible.

use super::call::{Answer, Call, Event, Version};
use super::model::AppendBlob;
use crate::Trial;
use crate::history::tamper;

/// How many were tried; an error when one was accepted.
pub fn all_rejected(events: &[Event]) -> Trial<usize> {
    let events = tamper::beginning::<AppendBlob>(events, Call::reads)?;
    tamper::rejected::<AppendBlob>([
        ("a reading of a block that nobody appended", invented(&events)),
        ("two blocks in one place", twice(&events)),
    ])
}

fn invented(events: &[Event]) -> Option<Vec<Event>> {
    let reading = |(_, event): &(usize, &Event)| matches!(event.answer, Some((Answer::Seen(_), _)));
    let (place, _) = events.iter().enumerate().filter(reading).min_by_key(|(_, event)| event.called)?;
    let mut events = events.to_vec();
    if let Some((Answer::Seen(blocks), _)) = events.get_mut(place).and_then(|event| event.answer.as_mut()) {
        *blocks = blocks.with(Version::MAX);
    }
    Some(events)
}

/// Of a blob that was made once and never again, so that no place came back.
fn twice(events: &[Event]) -> Option<Vec<Event>> {
    let makes = |event: &&Event| matches!(event.call, Call::Create { .. } | Call::Delete);
    let done = |event: &&Event| !matches!(event.answer, Some((Answer::Refused(_), _)));
    if events.iter().filter(makes).filter(done).count() != 1 {
        return None;
    }
    let first = events.iter().find(|event| matches!(event.answer, Some((Answer::Appended(_), _))))?;
    let again = Event { call: Call::Append { new: Version::MAX, at: None }, ..*first };
    Some(events.iter().copied().chain([again]).collect())
}
