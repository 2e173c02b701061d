//! Histories of entities, made impossible.

use super::call::{Answer, Call, Change, Event, KEYS, Kind, Match, Version};
use super::model::Partition;
use crate::Trial;
use crate::history::tamper;

/// How many were tried; an error when one was accepted.
pub fn all_rejected(events: &[Event]) -> Trial<usize> {
    let events = tamper::beginning::<Partition>(events, Call::reads)?;
    tamper::rejected::<Partition>([
        ("a group that won twice", won_twice(&events)),
        ("a query that saw half of a group", torn(&events)),
        ("a query of what nobody wrote", invented(&events)),
        ("a query of what was replaced before", stale(&events)),
    ])
}

fn changes(event: &Event) -> Vec<Change> {
    match (event.call, event.answer) {
        (Call::Change(change), Some((Answer::Done, _))) => vec![change],
        (Call::Group(changes), Some((Answer::Done, _))) => changes.into_iter().flatten().collect(),
        _ => Vec::new(),
    }
}

fn won_twice(events: &[Event]) -> Option<Vec<Event>> {
    let conditional = |change: &Change| matches!(change.kind, Kind::Update(_, Match::Version(_)));
    let won = events
        .iter()
        .find(|event| matches!(event.call, Call::Group(_)) && changes(event).iter().any(conditional))?;
    Some(events.iter().copied().chain([*won]).collect())
}

/// A query that saw what a group made of one entity saw, it now says, what the group replaced of another.
fn torn(events: &[Event]) -> Option<Vec<Event>> {
    for event in events.iter().filter(|event| matches!(event.call, Call::Group(_))) {
        let changes = changes(event);
        let made = changes.iter().find_map(|change| match change.kind {
            Kind::Insert(new) | Kind::Upsert(new) => Some((change.key, new)),
            Kind::Update(new, Match::Any) => Some((change.key, new)),
            _ => None,
        });
        let replaced = changes.iter().find_map(|change| match change.kind {
            Kind::Update(_, Match::Version(old)) | Kind::Delete(Match::Version(old)) => {
                Some((change.key, old))
            }
            _ => None,
        });
        let (Some((one, new)), Some((other, old))) = (made, replaced) else { continue };
        let sees =
            |event: &&Event| matches!(event.answer, Some((Answer::SeenAll(all), _)) if all[one] == new);
        let Some(query) = events.iter().find(sees) else { continue };
        let Some((Answer::SeenAll(mut all), _)) = query.answer else { continue };
        all[other] = old;
        return Some(with_query(events, query, all));
    }
    None
}

fn invented(events: &[Event]) -> Option<Vec<Event>> {
    let query = events.iter().find(|event| matches!(event.answer, Some((Answer::SeenAll(_), _))))?;
    Some(with_query(events, query, [Version::MAX; KEYS]))
}

fn stale(events: &[Event]) -> Option<Vec<Event>> {
    let query = |event: &&Event| matches!(event.answer, Some((Answer::SeenAll(_), _)));
    let last = events.iter().filter(query).max_by_key(|event| event.called)?;
    let Some((Answer::SeenAll(mut all), _)) = last.answer else { return None };
    let replaced = events.iter().find_map(|event| {
        let (_, moment) = event.answer?;
        let old = changes(event).into_iter().find_map(|change| match change.kind {
            Kind::Update(_, Match::Version(old)) | Kind::Delete(Match::Version(old)) => {
                Some((change.key, old))
            }
            _ => None,
        })?;
        (moment < last.called).then_some(old)
    })?;
    all[replaced.0] = replaced.1;
    Some(with_query(events, last, all))
}

fn with_query(events: &[Event], place: &Event, all: [Version; KEYS]) -> Vec<Event> {
    let change = |event: &Event| match event.answer {
        Some((Answer::SeenAll(_), moment)) if event == place => {
            Event { answer: Some((Answer::SeenAll(all), moment)), ..*event }
        }
        _ => *event,
    };
    events.iter().map(change).collect()
}
