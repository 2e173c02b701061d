//! The bytes of a file: written, cleared, cut off, listed.

use std::ops::Range;

use bytes::Bytes;
use lazuli_model::error::ErrorCode;

use crate::fault::Answer;
use crate::file::{FileRange, FileRanges};
use crate::store::found::Present;
use crate::store::record::content::Content;
use crate::store::record::path::{ExistingPath, PathRecord};
use crate::store::sparse::{self, Data, Interval, Overlay};
use crate::store::unit::View;
use crate::store::upload::Uploaded;

/// What a clear gives back is a multiple of this; the rest of it is written as zeros.
const SECTOR: u64 = 512;
impl Present<ExistingPath> {
    /// Puts as many bytes as the range is long into the file, and the record with them.
    pub async fn write_range(mut self, range: Range<u64>, uploaded: &Uploaded) -> Answer<PathRecord> {
        let length = range.end.saturating_sub(range.start);
        if uploaded.length != length || length == 0 || range.end > self.record.record.length() {
            return Err(ErrorCode::InvalidRange.into());
        }
        self.overwrite(range.clone(), &sparse::intervals(range.start, uploaded)).await?;
        self.unit.publish(uploaded.chunks());
        self.put().await
    }

    /// Lets the range read as zeros. Whole sectors of it are no part of the file's ranges any more; where bytes were
    /// written beside them, zeros are.
    pub async fn clear_range(mut self, range: Range<u64>) -> Answer<PathRecord> {
        let length = self.record.record.length();
        if range.end > length || range.start >= range.end {
            return Err(ErrorCode::InvalidRange.into());
        }
        let first = range.start.next_multiple_of(SECTOR).min(range.end);
        // The last sector of a file may be short.
        let last = if range.end == length { range.end } else { range.end / SECTOR * SECTOR }.max(first);
        let mut new = self.zeros_where_written(range.start..first).await?;
        if first < last {
            new.push(Interval::zero(first..last));
        }
        new.extend(self.zeros_where_written(last..range.end).await?);
        self.overwrite(range, &new).await?;
        self.put().await
    }

    /// Gives the file another length. What is cut off reads as zeros if the file grows again.
    pub async fn resize(mut self, length: u64) -> Answer<PathRecord> {
        let old = self.record.record.length();
        if length < old {
            self.overwrite(length..old, &[Interval::zero(length..old)]).await?;
        } else {
            self.place.preserve(&mut self.unit, &mut self.record.record).await?;
        }
        self.content()?.length = length;
        self.put().await
    }

    /// Intervals that cover the range: zeros that are written where bytes are, cleared ones elsewhere.
    async fn zeros_where_written(&mut self, range: Range<u64>) -> Answer<Vec<Interval>> {
        let reader = self.unit.reader().clone();
        let layers = sparse::layers(&reader, self.content()?.id, None).await?.unwrap_or_default();
        let mut overlay = Overlay::new(layers, range.clone(), true);
        let (mut intervals, mut at) = (Vec::new(), range.start);
        while let Some(span) = overlay.next(&reader).await? {
            if !span.is_data() {
                continue;
            }
            if at < span.start {
                intervals.push(Interval::zero(at..span.start));
            }
            let zeros = Bytes::from(vec![0; span.length() as usize]);
            intervals.push(Interval { start: span.start, end: span.end, data: Data::Inline(zeros) });
            at = span.end;
        }
        if at < range.end {
            intervals.push(Interval::zero(at..range.end));
        }
        Ok(intervals)
    }

    /// Once in a commit.
    async fn overwrite(&mut self, range: Range<u64>, new: &[Interval]) -> Answer<()> {
        self.overwrite_all(&[range], new).await
    }

    /// Several ranges, apart from one another and in order. Once in a commit.
    pub(super) async fn overwrite_all(&mut self, ranges: &[Range<u64>], new: &[Interval]) -> Answer<()> {
        // By the ETag a download that holds no snapshot sees that it must not go on.
        debug_assert!(self.changes_etag(), "a write that shows in no ETag");
        let before = self.content()?.id;
        self.place.preserve(&mut self.unit, &mut self.record.record).await?;
        let (reader, now) = (self.unit.reader().clone(), self.unit.now());
        let mut content = self.content()?.clone();
        let is_new = content.id != before;
        sparse::overwrite(&reader, &mut self.unit, &mut content, is_new, ranges, new, now).await?;
        *self.content()? = content;
        Ok(())
    }

    fn content(&mut self) -> Answer<&mut Content> {
        let file = self.record.record.file_mut().ok_or(ErrorCode::ResourceTypeMismatch)?;
        Ok(&mut file.content)
    }
}

impl View {
    /// The ranges of a file in which bytes were written; with `since`, what it was in an older snapshot, those that were
    /// written or cleared after that. A file that was replaced meanwhile is refused.
    pub async fn file_ranges(
        &self,
        file: &PathRecord,
        since: Option<&PathRecord>,
        range: Range<u64>,
        limit: usize,
    ) -> Answer<FileRanges> {
        let reader = self.reader();
        let Some(body) = file.file() else { return Err(ErrorCode::ResourceTypeMismatch.into()) };
        let since = since.and_then(PathRecord::file).map(|file| file.content.id);
        let layers = sparse::layers(reader, body.content.id, since).await?;
        let layers = layers.ok_or(ErrorCode::FileGenerationMismatch)?;
        let range = range.start..range.end.min(file.length());
        let (ranges, next) = sparse::ranges(reader, layers, range, since.is_some(), limit).await?;
        let ranges = ranges.into_iter().map(|(range, cleared)| FileRange {
            start: range.start,
            end: range.end,
            cleared,
        });
        Ok(FileRanges { ranges: ranges.collect(), next })
    }
}
