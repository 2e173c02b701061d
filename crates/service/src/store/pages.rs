//! Pages of a page blob: written, cleared, cut off, listed.

use std::ops::Range;

use lazuli_model::error::ErrorCode;

use super::found::Present;
use super::key::ContentId;
use super::record::blob::BlobRecord;
use super::record::content::{Content, Shape};
use super::sparse::{self, Interval};
use super::unit::{Changes as _, Unit, View};
use super::upload::Uploaded;
use crate::blob::{PageRange, PageRanges};
use crate::fault::Answer;

impl Present<BlobRecord> {
    /// Puts as many bytes as the range is long into the blob.
    pub async fn write_pages(mut self, range: Range<u64>, uploaded: &Uploaded) -> Answer<BlobRecord> {
        if uploaded.length != range.end - range.start {
            return Err(ErrorCode::InvalidPageRange.into());
        }
        self.encryption().admits(&uploaded.encryption)?;
        self.overwrite(range.clone(), &sparse::intervals(range.start, uploaded)).await?;
        self.unit.publish(uploaded.chunks());
        Ok(self.put())
    }

    /// Lets the range read as zeros, however much lies in it.
    pub async fn clear_pages(mut self, range: Range<u64>) -> Answer<BlobRecord> {
        self.overwrite(range.clone(), &[Interval::zero(range)]).await?;
        Ok(self.put())
    }

    /// Gives the blob another length, to be put. What is cut off reads as zeros if the blob grows again.
    pub async fn resize(&mut self, length: u64) -> Answer<()> {
        let old = self.content.length;
        if length < old {
            self.overwrite(length..old, &[Interval::zero(length..old)]).await?;
        }
        self.record.content.length = length;
        Ok(())
    }

    async fn overwrite(&mut self, range: Range<u64>, new: &[Interval]) -> Answer<()> {
        // By the ETag a download that holds no snapshot sees that it must not go on.
        debug_assert!(self.changes_etag(), "a write that shows in no ETag");
        let (reader, now) = (self.unit.reader().clone(), self.unit.now());
        let content = &mut self.record.content;
        sparse::overwrite(&reader, &mut self.unit, content, false, std::slice::from_ref(&range), new, now)
            .await
    }
}

/// The content of a page blob that is copied from elsewhere: one layer.
pub(super) fn of_upload(unit: &mut Unit, uploaded: &Uploaded) -> Content {
    let content = Content { id: ContentId::fresh(unit.now()), length: uploaded.length, shape: Shape::Sparse };
    if uploaded.length > 0 {
        for interval in sparse::intervals(0, uploaded) {
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
        let range = range.start..range.end.min(blob.length());
        let (ranges, next) = sparse::ranges(reader, layers, range, since.is_some(), limit).await?;
        let ranges = ranges.into_iter().map(|(range, cleared)| PageRange {
            start: range.start,
            end: range.end,
            cleared,
        });
        Ok(PageRanges { ranges: ranges.collect(), next })
    }
}
