//! Histories of page blobs, made impossible.

use super::call::{Answer, Call, Event, PAGES, Version};
use super::model::PageBlob;
use crate::Trial;
use crate::history::tamper;

/// How many were tried; an error when one was accepted.
pub fn all_rejected(events: &[Event]) -> Trial<usize> {
    let events = tamper::beginning::<PageBlob>(events, Call::reads)?;
    tamper::rejected::<PageBlob>([
        (
            "a reading of a page that nobody wrote",
            changed(&events, |pages, _| pages[PAGES - 1] = Version::MAX),
        ),
        (
            "a reading of a sequence number that nobody set",
            changed(&events, |_, sequence| *sequence += 1_000_000),
        ),
    ])
}

/// With the earliest reading changed: the later one is, the more orders lie before it.
fn changed(events: &[Event], change: impl Fn(&mut [Version; PAGES], &mut u64)) -> Option<Vec<Event>> {
    let reading = |(_, event): &(usize, &Event)| matches!(event.answer, Some((Answer::Seen(..), _)));
    let (place, _) = events.iter().enumerate().filter(reading).min_by_key(|(_, event)| event.called)?;
    let mut events = events.to_vec();
    if let Some((Answer::Seen(pages, sequence), _)) =
        events.get_mut(place).and_then(|event| event.answer.as_mut())
    {
        change(pages, sequence);
    }
    Some(events)
}
