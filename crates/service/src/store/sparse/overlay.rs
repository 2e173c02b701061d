//! What the layers of a line show together, from an offset on.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::ops::Range;

use lazuli_engine::{Key, Reader, Scan};

use super::interval::{Data, Interval, behind};
use crate::fault::Answer;
use crate::store::key::ContentId;

/// Intervals that are read of a layer at a time.
const PAGE: usize = 64;
/// The same of a line of many layers, each of which has a page in memory.
const SMALL_PAGE: usize = 8;
const MANY_LAYERS: usize = 16;
/// Layers that are looked at without a pause.
const TURN: usize = 64;

/// A part that one layer shows.
pub type Span = Interval;

/// Walks through a range of a line at one snapshot. A layer is looked at when an interval of it begins or ends, so that a line of
/// many layers costs what its intervals do, and not each part once for each layer.
pub struct Overlay {
    layers: Vec<Cursor>,
    /// Where the next interval of a layer begins, for layers that do not cover the offset.
    coming: BinaryHeap<Reverse<(u64, usize)>>,
    /// Layers, the topmost first, whose next interval begins at the offset or before. It may have ended since.
    begun: BTreeSet<usize>,
    is_open: bool,
    at: u64,
    end: u64,
    keys_only: bool,
    page: usize,
}

struct Cursor {
    layer: ContentId,
    read: VecDeque<Interval>,
    after: Option<Key>,
    more: bool,
}

impl Overlay {
    /// `layers` from the top down.
    pub fn new(layers: Vec<ContentId>, range: Range<u64>, keys_only: bool) -> Self {
        let page = if layers.len() > MANY_LAYERS { SMALL_PAGE } else { PAGE };
        let cursor = |layer| Cursor { layer, read: VecDeque::new(), after: None, more: true };
        let layers = layers.into_iter().map(cursor).collect();
        let (coming, begun) = (BinaryHeap::new(), BTreeSet::new());
        Self { layers, coming, begun, is_open: false, at: range.start, end: range.end, keys_only, page }
    }

    /// The next part that a layer covers, with zeros that were written where they hide something. What lies between two
    /// parts is a hole.
    pub async fn next(&mut self, reader: &Reader) -> Answer<Option<Span>> {
        if !self.is_open {
            for number in 0..self.layers.len() {
                self.place(reader, number).await?;
                // There are as many layers as snapshots: others on this lane have their turn between some of them.
                if number % TURN == TURN - 1 {
                    tokio::task::yield_now().await;
                }
            }
            self.is_open = true;
        }
        while self.at < self.end {
            self.begin(self.at);
            let Some(top) = self.begun.first().copied() else {
                match self.coming.peek() {
                    Some(Reverse((start, _))) if *start < self.end => self.at = *start,
                    _ => return Ok(None),
                }
                continue;
            };
            let Some(end) = self.layers.get(top).and_then(|cursor| cursor.covers(self.at)) else {
                // Its interval has ended; the next one may begin later.
                self.begun.remove(&top);
                self.place(reader, top).await?;
                continue;
            };
            // Up to where a higher layer begins to cover it. Lower ones begin behind it.
            let mut limit = end.min(self.end);
            while let Some(Reverse((start, number))) = self.coming.peek().copied() {
                if start >= limit {
                    break;
                }
                if number < top {
                    limit = start;
                    break;
                }
                self.coming.pop();
                self.begun.insert(number);
            }
            let Some(interval) = self.layers.get(top).and_then(|cursor| cursor.read.front()) else {
                continue;
            };
            let span = interval.within(self.at, limit);
            self.at = span.end;
            return Ok(Some(span));
        }
        Ok(None)
    }

    /// Layers whose intervals begin up to the offset.
    fn begin(&mut self, at: u64) {
        while let Some(Reverse((start, number))) = self.coming.peek().copied() {
            if start > at {
                break;
            }
            self.coming.pop();
            self.begun.insert(number);
        }
    }

    /// Reads a layer up to its first interval that does not end before the offset, if there is one.
    async fn place(&mut self, reader: &Reader, number: usize) -> Answer<()> {
        let Some(cursor) = self.layers.get_mut(number) else { return Ok(()) };
        cursor.reach(reader, self.at, self.keys_only, self.page).await?;
        if let Some(interval) = cursor.read.front() {
            self.coming.push(Reverse((interval.start, number)));
        }
        Ok(())
    }
}

impl Cursor {
    /// Where the interval ends that covers the offset.
    fn covers(&self, at: u64) -> Option<u64> {
        self.read.front().map(|interval| interval.end).filter(|end| *end > at)
    }

    /// Drops what ends before the offset and reads on where nothing is left.
    async fn reach(&mut self, reader: &Reader, at: u64, keys_only: bool, limit: usize) -> Answer<()> {
        while self.read.front().is_some_and(|interval| interval.end <= at) {
            self.read.pop_front();
        }
        while self.read.is_empty() && self.more {
            let scan =
                Scan { after: self.after.take(), limit, keys_only, ..Scan::of(behind(self.layer, at)) };
            let page = reader.scan(scan).await?;
            self.more = page.more;
            self.after = page.items.last().map(|(key, _)| key.clone());
            for (key, entry) in &page.items {
                let value = (!keys_only).then_some(&entry.value);
                self.read.push_back(Interval::decode(key, value)?);
            }
        }
        Ok(())
    }
}

impl Interval {
    /// Whether it shows bytes that were written, and not zeros.
    pub fn is_data(&self) -> bool {
        self.data != Data::Zero
    }
}
