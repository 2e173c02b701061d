//! What the layers of a line show together, from an offset on.

use std::collections::VecDeque;
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

/// Walks through a range of a line at one snapshot.
pub struct Overlay {
    layers: Vec<Cursor>,
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
        Self { layers, at: range.start, end: range.end, keys_only, page }
    }

    /// The next part that a layer covers, with zeros that were written where they hide something. What lies between two
    /// parts is a hole.
    pub async fn next(&mut self, reader: &Reader) -> Answer<Option<Span>> {
        while self.at < self.end {
            for (number, cursor) in (1..).zip(&mut self.layers) {
                cursor.reach(reader, self.at, self.keys_only, self.page).await?;
                // There are as many layers as snapshots: others on this lane have their turn between some of them.
                if number % TURN == 0 {
                    tokio::task::yield_now().await;
                }
            }
            // What covers this offset, up to where a higher layer begins to.
            let mut limit = self.end;
            let mut shown = None;
            for cursor in &self.layers {
                let Some(interval) = cursor.read.front() else { continue };
                if interval.start <= self.at {
                    shown = Some(interval);
                    break;
                }
                limit = limit.min(interval.start);
            }
            match shown {
                Some(interval) => {
                    let span = interval.within(self.at, limit);
                    self.at = span.end;
                    return Ok(Some(span));
                }
                None => self.at = limit,
            }
        }
        Ok(None)
    }
}

impl Cursor {
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
