//! Get Page Ranges, and what of them changed since a snapshot.

use lazuli_model::admission::Preconditions;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;
use lazuli_model::range::ByteRange;
use lazuli_model::time::Timestamp;

use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetPageRanges {
    pub at: BlobAddress,
    pub snapshot: Option<Timestamp>,
    /// The snapshot since which changes are asked for.
    pub previous: Option<Timestamp>,
    pub preconditions: Preconditions,
    pub range: Option<ByteRange>,
    /// Where a list that was not whole goes on.
    pub from: u64,
    /// The most ranges of the answer.
    pub limit: usize,
}

/// Whole pages, the end not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRange {
    pub start: u64,
    pub end: u64,
    /// The pages were cleared since the snapshot.
    pub cleared: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRanges {
    pub ranges: Vec<PageRange>,
    /// Where the list goes on, when it is not whole.
    pub next: Option<u64>,
}

impl GetPageRanges {
    /// The ranges, and ETag and length of the blob that they are of.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<(PageRanges, Stamped, u64)> {
        let view = services.view(context).await?;
        let found = view.committed_blob(&self.at, self.snapshot).await?;
        let blob = found.admit(policy::GetPageRanges, &self.preconditions)?.into_record()?;
        let previous = match self.previous {
            Some(previous) if self.snapshot.is_some_and(|snapshot| previous > snapshot) => {
                return Err(ErrorCode::PreviousSnapshotCannotBeNewer.into());
            }
            Some(previous) => {
                let found = view.committed_blob(&self.at, Some(previous)).await?;
                let snapshot = found.record().cloned();
                Some(snapshot.ok_or(ErrorCode::PreviousSnapshotNotFound)?)
            }
            None => None,
        };
        let length = blob.length();
        let mut range = self.range.map_or(Ok(0..length), |range| range.resolve(length))?;
        range.start = range.start.max(self.from).min(range.end);
        let ranges = view.page_ranges(&blob, previous.as_ref(), range, self.limit).await?;
        Ok((ranges, blob.stamped(), blob.length()))
    }
}
