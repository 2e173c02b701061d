//! Walking a range of keys: over the keyspaces that it lies in, and around what is known to be empty.

use super::voids::successor;
use super::{EmbeddedSnapshot, read_failed, unstamped};
use crate::caps::{OWN, WIDE};
use crate::error::EngineError;
use crate::key::{Key, KeyRange};
use crate::local::store::{Row, Step};
use fjall::{Keyspace, Readable};

enum Walked {
    Stopped,
    /// To the end; the key that `visit` asked to seek to, if any.
    Through(Option<Key>),
}

impl EmbeddedSnapshot {
    pub fn walk(
        &self,
        range: &KeyRange,
        reverse: bool,
        visit: &mut dyn FnMut(Row) -> Step,
    ) -> Result<(), EngineError> {
        let mut parts = self.parts(range);
        if reverse {
            parts.reverse();
        }
        let mut from: Option<Key> = None;
        for (space, mut part) in parts {
            if let Some(from) = from.take_if(|from| part.end.as_ref().is_none_or(|end| end > from)) {
                part.start = part.start.max(from);
            } else if from.is_some() {
                continue;
            }
            match self.walk_part(space, part, reverse, visit)? {
                Walked::Stopped => return Ok(()),
                Walked::Through(seek) => from = seek,
            }
        }
        Ok(())
    }

    fn walk_part(
        &self,
        space: &Keyspace,
        part: KeyRange,
        reverse: bool,
        visit: &mut dyn FnMut(Row) -> Step,
    ) -> Result<Walked, EngineError> {
        let end = part.end.clone();
        let mut rest = Some(part);
        while let Some(range) = rest
            && let Some(stretch) = self.spaces.voids.stretch(range, self.seq, reverse)
        {
            rest = stretch.rest;
            match self.walk_stretch(space, stretch.range, reverse, visit)? {
                Walked::Stopped => return Ok(Walked::Stopped),
                Walked::Through(None) => {}
                Walked::Through(Some(key)) if end.as_ref().is_some_and(|end| *end <= key) => {
                    return Ok(Walked::Through(Some(key)));
                }
                Walked::Through(Some(key)) => rest = Some(KeyRange { start: key, end: end.clone() }),
            }
        }
        Ok(Walked::Through(None))
    }

    fn walk_stretch(
        &self,
        space: &Keyspace,
        range: KeyRange,
        reverse: bool,
        visit: &mut dyn FnMut(Row) -> Step,
    ) -> Result<Walked, EngineError> {
        let mut rows = match &range.end {
            Some(end) => self.snapshot.range(space, &range.start[..]..&end[..]),
            None => self.snapshot.range(space, &range.start[..]..),
        };
        // The survey sees to what is walked in reverse.
        let mut gaps = (!reverse).then(|| Gaps::of(self, &range));
        while let Some(row) = if reverse { rows.next_back() } else { rows.next() } {
            let (key, stored) = row.into_inner().map_err(read_failed)?;
            let key = Key::from(key);
            if let Some(gaps) = &mut gaps {
                gaps.met(&key);
            }
            let (seq, value) = unstamped(stored.into())?;
            match visit(Row { key, seq, value }) {
                Step::Next => {}
                Step::Stop => return Ok(Walked::Stopped),
                Step::Seek(key) => return Ok(Walked::Through(Some(key))),
            }
        }
        if let (Some(gaps), Some(end)) = (&mut gaps, &range.end) {
            gaps.met(end);
        }
        Ok(Walked::Through(None))
    }

    /// The range cut where keyspaces meet, in order.
    fn parts(&self, range: &KeyRange) -> Vec<(&Keyspace, KeyRange)> {
        let mut parts = Vec::with_capacity(1);
        let mut start = range.start.clone();
        loop {
            let first = start.first().copied();
            let Some(border) = border_behind(first) else {
                parts.push((&self.spaces.rows, KeyRange { start, end: range.end.clone() }));
                return parts;
            };
            let border = Key::copy_from_slice(&[border]);
            let space = if first.is_none() { &self.spaces.own } else { self.spaces.of(&start) };
            if range.end.as_ref().is_some_and(|end| *end <= border) {
                parts.push((space, KeyRange { start, end: range.end.clone() }));
                return parts;
            }
            parts.push((space, KeyRange { start, end: Some(border.clone()) }));
            start = border;
        }
    }
}

/// Where the keyspace of a key with this first byte ends; `None` for the last.
fn border_behind(first: Option<u8>) -> Option<u8> {
    match first {
        None | Some(OWN) => Some(OWN + 1),
        Some(WIDE) => Some(WIDE + 1),
        Some(first) if first < WIDE => Some(WIDE),
        Some(_) => None,
    }
}

/// Everything between the borders of keyspaces that this key lies between.
pub(super) fn part_of(key: &Key) -> KeyRange {
    let first = key.first().copied();
    let start = match first {
        None | Some(OWN) => Key::new(),
        Some(WIDE) => Key::from_static(&[WIDE]),
        Some(first) if first < WIDE => Key::from_static(&[OWN + 1]),
        Some(_) => Key::from_static(&[WIDE + 1]),
    };
    KeyRange { start, end: border_behind(first).map(|border| Key::copy_from_slice(&[border])) }
}

/// Notices where a walk comes over deleted keys, so that the next one need not.
struct Gaps<'a> {
    snapshot: &'a EmbeddedSnapshot,
    range: &'a KeyRange,
    /// The last live key.
    last: Option<Key>,
    /// The next sample of a deleted key ahead.
    sample: Option<Key>,
}

impl<'a> Gaps<'a> {
    fn of(snapshot: &'a EmbeddedSnapshot, range: &'a KeyRange) -> Self {
        Self { snapshot, range, last: None, sample: snapshot.spaces.voids.sample_in(range) }
    }

    /// The walk is at the next live key, or at its end.
    fn met(&mut self, key: &Key) {
        if self.sample.is_none() {
            return;
        }
        let last = self.last.replace(key.clone());
        if self.sample.as_ref().is_some_and(|sample| sample < key) {
            let start = last.map_or_else(|| self.range.start.clone(), |last| successor(&last));
            let voids = &self.snapshot.spaces.voids;
            voids.found_empty(KeyRange { start, end: Some(key.clone()) }, self.snapshot.seq);
            self.sample = voids.sample_in(&KeyRange { start: key.clone(), end: self.range.end.clone() });
        }
    }
}
