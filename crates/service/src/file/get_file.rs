//! Get File: the bytes of a file, as they were when it was found.

use std::ops::Range;

use lazuli_model::admission::Preconditions;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Judged;
use lazuli_model::range::ByteRange;

use super::FileAddress;
use crate::download::Download;
use crate::fault::Answer;
use crate::store::record::path::PathRecord;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetFile {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub range: Option<ByteRange>,
}

impl GetFile {
    /// The file, the bytes asked for and where they lie; a range that begins behind the end is refused with the length
    /// known to the caller.
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
        op: impl Judged,
    ) -> Answer<(PathRecord, Result<(Range<u64>, Download), Failure>)> {
        let active = services.readers().enter();
        let view = services.view(context).await?;
        let file = view.path(&self.at).await?.admit(op, &self.preconditions)?.file()?.into_record().record;
        let length = file.length();
        let range = match self.range.map_or(Ok(0..length), |range| range.resolve(length)) {
            Ok(range) => range,
            Err(failure) => return Ok((file, Err(failure))),
        };
        let body = file.file().ok_or(ErrorCode::ResourceNotFound)?;
        let download = Download::open(services, active, &view, &body.content, range.clone(), None).await?;
        Ok((file, Ok((range, download))))
    }
}
