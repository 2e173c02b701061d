//! List Ranges: where a file holds bytes, or what of it has changed since a snapshot of its share.

use lazuli_model::admission::Preconditions;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;
use lazuli_model::range::ByteRange;
use lazuli_model::time::Timestamp;

use super::{FileAddress, FileRanges};
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::store::{Earlier, View};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct ListRanges {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    /// Only what was written or cleared after this snapshot.
    pub previous: Option<Timestamp>,
    /// Also of a file that had another path then.
    pub follows_renames: bool,
    pub range: Option<ByteRange>,
    /// Nothing in front of this offset.
    pub from: u64,
    pub limit: usize,
}

impl ListRanges {
    /// The ranges, and ETag and length of the file that they are of.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<(FileRanges, Stamped, u64)> {
        let input = &self;
        services.look(context, |view| input.list(view)).await
    }

    async fn list(&self, view: View) -> Answer<(FileRanges, Stamped, u64)> {
        let file = view.path(&self.at).await?.admit(policy::ListRanges, &self.preconditions)?.file()?;
        let previous = match self.previous {
            Some(previous) if self.at.snapshot.is_some_and(|snapshot| previous > snapshot) => {
                return Err(ErrorCode::PreviousSnapshotCannotBeNewer.into());
            }
            Some(previous) => match file.earlier(&self.at, previous).await? {
                Earlier::Renamed(_) if !self.follows_renames => {
                    return Err(ErrorCode::FileGenerationMismatch.into());
                }
                Earlier::Same(then) | Earlier::Renamed(then) => Some(then),
                Earlier::Another => return Err(ErrorCode::FileGenerationMismatch.into()),
                // All of it is new.
                Earlier::Nothing => None,
            },
            None => None,
        };
        let file = file.into_record().record;
        let length = file.length();
        let mut range = self.range.map_or(Ok(0..length), |range| range.resolve(length))?;
        range.start = range.start.max(self.from).min(range.end);
        let ranges = view.file_ranges(&file, previous.as_deref(), range, self.limit).await?;
        Ok((ranges, file.stamped(), length))
    }
}
