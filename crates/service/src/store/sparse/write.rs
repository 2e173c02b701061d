//! Writing into the top layer.

use std::collections::HashMap;
use std::ops::Range;

use lazuli_engine::{Reader, Scan, Value};

use super::interval::{Data, Interval, behind};
use crate::fault::Answer;
use crate::store::content;
use crate::store::key::{self, ContentId};
use crate::store::record::Record;
use crate::store::record::content::{Content, DeadContent, Fragments, Piece};
use crate::store::unit::Changes;
use lazuli_model::time::Timestamp;

/// So many intervals, and about so many bytes of them, one write cuts up. More are left to the sweeper, under a new layer.
const INTERVALS: usize = 2_000;
const BYTES: usize = 300_000;
/// So much of their bytes it holds in memory: what a write of 4 MiB finds inline at the most, and some more.
const HELD: usize = 6 << 20;

/// Whether the layer took the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Done,
    /// Too much lies in the range: the write needs a new layer.
    TooMuch,
}

/// Puts intervals that cover the ranges together in place of what the layer has there. The ranges are apart from one another and
/// in order. The commit is refused if the sweeper has moved intervals into the layer meanwhile, whose every commit writes the
/// layer's parent again.
pub async fn write<W: Changes>(
    reader: &Reader,
    changes: &mut W,
    layer: ContentId,
    ranges: &[Range<u64>],
    new: &[Interval],
    now: Timestamp,
) -> Answer<Cut> {
    reader.get(key::parent(layer)).await?;
    let mut cut = Found::default();
    for range in ranges {
        if cut.read(reader, layer, range).await? == Cut::TooMuch {
            return Ok(Cut::TooMuch);
        }
    }
    let mut ledger = Ledger::default();
    for interval in &cut.intervals {
        // What a new interval of the same place replaces is not deleted before.
        if !new.iter().any(|new| new.stands_for(interval)) {
            changes.delete_without_trace(interval.key(layer));
        }
        ledger.drop(&interval.data);
        // What of it lies between the ranges stays.
        let mut start = interval.start;
        for range in ranges.iter().filter(|range| range.start < interval.end && interval.start < range.end) {
            if start < range.start {
                keep(changes, layer, interval.within(start, range.start), &mut ledger);
            }
            start = range.end;
        }
        if start < interval.end {
            keep(changes, layer, interval.within(start, interval.end), &mut ledger);
        }
    }
    for interval in new {
        changes.put(interval.key(layer), interval.value());
    }
    ledger.settle(reader, changes, &[layer], now).await?;
    Ok(Cut::Done)
}

/// What lies in the ranges of a write.
#[derive(Default)]
struct Found {
    intervals: Vec<Interval>,
    bytes: usize,
    held: usize,
}

impl Found {
    async fn read(&mut self, reader: &Reader, layer: ContentId, range: &Range<u64>) -> Answer<Cut> {
        let (mut after, mut most) = (None, 1);
        loop {
            // Behind the range there may be any number of intervals, with their bytes: few are read before it is known that more
            // of them lie in it. The first one tells all where it reaches to the end of the range, or begins behind it.
            let limit = (INTERVALS + 1).saturating_sub(self.intervals.len()).clamp(1, most);
            most = (most * 8).min(256);
            let scan = Scan { after, limit, ..Scan::of(behind(layer, range.start)) };
            let page = reader.scan(scan).await?;
            for (key, entry) in &page.items {
                let interval = Interval::decode(key, Some(&entry.value))?;
                if interval.start >= range.end {
                    return Ok(Cut::Done);
                }
                let is_last = interval.end >= range.end;
                // One that lies in the range before too was found there.
                if self.intervals.last().is_none_or(|last| last.start != interval.start) {
                    self.bytes += key.len() + entry.value.len().min(64);
                    self.held += entry.value.len();
                    self.intervals.push(interval);
                }
                if self.intervals.len() > INTERVALS || self.bytes > BYTES || self.held > HELD {
                    return Ok(Cut::TooMuch);
                }
                if is_last {
                    return Ok(Cut::Done);
                }
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(Cut::Done);
            }
        }
    }
}

fn keep<W: Changes>(changes: &mut W, layer: ContentId, part: Interval, ledger: &mut Ledger) {
    ledger.keep(&part.data);
    changes.put(part.key(layer), part.value());
}

/// A new layer over a content, which hands on the hold that the record had on it. `is_shared` when another record keeps
/// a hold of its own.
pub async fn push_layer<W: Changes>(
    reader: &Reader,
    changes: &mut W,
    below: &Content,
    is_shared: bool,
    now: Timestamp,
) -> Answer<Content> {
    let id = ContentId::fresh(now);
    match is_shared {
        true => {
            changes.put(key::parent(id), below.encode());
            changes.put(key::child(below.id, id), Value::new());
        }
        false => content::become_parent(reader, changes, below, id).await?,
    }
    Ok(Content { id, length: below.length, shape: below.shape.clone() })
}

/// How many intervals of each chunk went and came. A chunk whose last one went is given back when the downloads that
/// may have seen it are over.
#[derive(Default)]
pub struct Ledger {
    chunks: HashMap<u128, (i64, u32)>,
}

impl Ledger {
    pub fn drop(&mut self, data: &Data) {
        self.note(data, -1);
    }

    pub fn keep(&mut self, data: &Data) {
        self.note(data, 1);
    }

    fn note(&mut self, data: &Data, by: i64) {
        if let Data::Chunk { id, len, .. } = data {
            self.chunks.entry(*id).or_insert((0, *len)).0 += by;
        }
    }

    /// `seen` are the layers through which downloads may have found the chunks.
    pub async fn settle<W: Changes>(
        self,
        reader: &Reader,
        changes: &mut W,
        seen: &[ContentId],
        now: Timestamp,
    ) -> Answer<()> {
        let mut dead = Vec::new();
        for (id, (by, len)) in self.chunks {
            if by == 0 {
                continue;
            }
            let key = key::fragments(id);
            let stored = reader.get(key.clone()).await?;
            let before = match &stored {
                Some(entry) => i64::from(Fragments::decode(&entry.value)?.0),
                None => 1,
            };
            let after = u32::try_from(before + by).unwrap_or(0);
            match after {
                0 | 1 if stored.is_some() => changes.delete_without_trace(key),
                0 | 1 => {}
                _ => changes.put(key, Fragments(after).encode()),
            }
            if after == 0 {
                // What is given back is not read.
                dead.push(Piece::Chunk { id, len, seal: None });
            }
        }
        if !dead.is_empty() {
            let item = DeadContent::Replaced { seen: seen.to_vec(), pieces: dead };
            changes.put(key::dead_content(ContentId::fresh(now)), item.encode());
        }
        Ok(())
    }
}
