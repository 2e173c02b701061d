//! Pages of a page blob: written, cleared, cut off, listed.

use std::ops::Range;

use lazuli_model::error::ErrorCode;

use super::found::Present;
use super::key::ContentId;
use super::record::blob::BlobRecord;
use super::record::content::{Content, Shape};
use super::sparse::{self, Cut, Data, Interval, Overlay};
use super::unit::{Changes as _, Unit, View};
use super::upload::Uploaded;
use crate::blob::{PageRange, PageRanges};
use crate::fault::Answer;

/// What is to stand in a range of pages.
enum New<'a> {
    Bytes(&'a Uploaded),
    Zeros,
}

impl New<'_> {
    fn intervals(&self, range: &Range<u64>) -> Vec<Interval> {
        let Range { start, end } = *range;
        match self {
            Self::Zeros => vec![Interval { start, end, data: Data::Zero }],
            Self::Bytes(uploaded) => match uploaded.inline() {
                Some((_, bytes)) => vec![Interval { start, end, data: Data::Inline(bytes) }],
                None => {
                    let mut at = start;
                    let interval = |(id, len, seal)| {
                        let start = at;
                        at += u64::from(len);
                        Interval { start, end: at, data: Data::Chunk { id, len, from: 0, seal } }
                    };
                    uploaded.chunk_lengths().map(interval).collect()
                }
            },
        }
    }
}

impl Present<BlobRecord> {
    /// Puts as many bytes as the range is long into the blob.
    pub async fn write_pages(mut self, range: Range<u64>, uploaded: &Uploaded) -> Answer<BlobRecord> {
        if uploaded.length != range.end - range.start {
            return Err(ErrorCode::InvalidPageRange.into());
        }
        self.encryption().admits(&uploaded.encryption)?;
        self.overwrite(range, New::Bytes(uploaded)).await?;
        self.unit.publish(uploaded.chunks());
        Ok(self.put())
    }

    /// Lets the range read as zeros, however much lies in it.
    pub async fn clear_pages(mut self, range: Range<u64>) -> Answer<BlobRecord> {
        self.overwrite(range, New::Zeros).await?;
        Ok(self.put())
    }

    /// Gives the blob another length, to be put. What is cut off reads as zeros if the blob grows again.
    pub async fn resize(&mut self, length: u64) -> Answer<()> {
        let old = self.content.length;
        if length < old {
            self.overwrite(length..old, New::Zeros).await?;
        }
        self.record.content.length = length;
        Ok(())
    }

    async fn overwrite(&mut self, range: Range<u64>, new: New<'_>) -> Answer<()> {
        let (reader, now) = (self.unit.reader().clone(), self.unit.now());
        let layer = self.record.content.id;
        let cut = match new {
            New::Zeros => sparse::clear(&reader, &mut self.unit, layer, range.clone(), now).await?,
            New::Bytes(_) => {
                let intervals = new.intervals(&range);
                sparse::write(&reader, &mut self.unit, layer, range.clone(), &intervals, now).await?
            }
        };
        if cut == Cut::Done {
            return Ok(());
        }
        let top = sparse::push_layer(&reader, &mut self.unit, &self.record.content, false, now).await?;
        let intervals = new.intervals(&range);
        sparse::write(&reader, &mut self.unit, top.id, range, &intervals, now).await?;
        self.record.content = top;
        Ok(())
    }
}

/// The content of a page blob that is copied from elsewhere: one layer.
pub(super) fn of_upload(unit: &mut Unit, uploaded: &Uploaded) -> Content {
    let content = Content { id: ContentId::fresh(unit.now()), length: uploaded.length, shape: Shape::Sparse };
    if uploaded.length > 0 {
        for interval in New::Bytes(uploaded).intervals(&(0..uploaded.length)) {
            unit.put(interval.key(content.id), interval.value());
        }
    }
    unit.publish(uploaded.chunks());
    content
}

impl Unit {
    /// For a snapshot: the blob goes on with a layer of its own over the content that they share.
    pub(super) async fn layer_over_shared(&mut self, blob: &mut BlobRecord) -> Answer<()> {
        let reader = self.reader().clone();
        let now = self.now();
        blob.content = sparse::push_layer(&reader, self, &blob.content, true, now).await?;
        Ok(())
    }
}

impl View {
    /// The ranges of a page blob that hold pages; with `since`, those that were written or cleared after that snapshot.
    pub async fn page_ranges(
        &self,
        blob: &BlobRecord,
        since: Option<&BlobRecord>,
        range: Range<u64>,
        limit: usize,
    ) -> Answer<PageRanges> {
        let reader = self.reader();
        let since = since.map(|snapshot| snapshot.content.id);
        let layers = sparse::layers(reader, blob.content.id, since).await?;
        let layers = layers.ok_or(ErrorCode::BlobOverwritten)?;
        let mut overlay = Overlay::new(layers, range.start..range.end.min(blob.length()), true);
        let mut ranges: Vec<PageRange> = Vec::new();
        while let Some(span) = overlay.next(reader).await? {
            let cleared = !span.is_data();
            if cleared && since.is_none() {
                continue;
            }
            let count = ranges.len();
            match ranges.last_mut() {
                Some(last) if last.end == span.start && last.cleared == cleared => last.end = span.end,
                _ if count == limit => return Ok(PageRanges { ranges, next: Some(span.start) }),
                _ => ranges.push(PageRange { start: span.start, end: span.end, cleared }),
            }
            if ranges.len().is_multiple_of(YIELD) {
                tokio::task::yield_now().await;
            }
        }
        Ok(PageRanges { ranges, next: None })
    }
}

/// Ranges between two moments at which other requests of the lane have their turn.
const YIELD: usize = 256;
