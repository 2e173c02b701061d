//! Get File: the bytes of a file, as they were when it was found.

use std::ops::Range;

use lazuli_model::admission::Preconditions;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Judged;
use lazuli_model::range::ByteRange;
use lazuli_model::time::Timestamp;

use super::{Described, FileAddress};
use crate::download::{Download, Origin};
use crate::fault::Answer;
use crate::store::View;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetFile {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub range: Option<ByteRange>,
}

/// A file that is read.
pub struct FileRead {
    pub file: Described,
    /// When its lease is to be judged.
    pub now: Timestamp,
    /// The bytes asked for and where they lie. A range that begins behind the end is refused with the length known to the
    /// caller.
    pub content: Result<(Range<u64>, Download), Failure>,
}

impl GetFile {
    pub async fn execute(self, services: &Services, context: &Context, op: impl Judged) -> Answer<FileRead> {
        let input = &self;
        services.look(context, |view| input.read(services, view, op)).await
    }

    async fn read(&self, services: &Services, view: View, op: impl Judged) -> Answer<FileRead> {
        let active = services.readers().enter();
        let file = view.path(&self.at).await?.admit(op, &self.preconditions)?.file()?.described();
        let (length, now) = (file.record.length(), view.now());
        let range = match self.range.map_or(Ok(0..length), |range| range.resolve(length)) {
            Ok(range) => range,
            Err(failure) => return Ok(FileRead { file, now, content: Err(failure) }),
        };
        let body = file.record.file().ok_or(ErrorCode::ResourceNotFound)?;
        let origin = Origin::File { account: view.account(), at: &self.at, etag: file.record.etag };
        let content = &body.content;
        let download = Download::open(services, active, &view, content, range.clone(), None, origin).await?;
        Ok(FileRead { file, now, content: Ok((range, download)) })
    }
}
