//! Put Range: a range of a file is written, or cleared.

use std::ops::Range;

use lazuli_model::admission::Preconditions;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Judged, Writes, policy};
use lazuli_model::time::Timestamp;

use super::{FileAddress, PathRecord};
use crate::blob::{Digests, Stamped};
use crate::fault::Answer;
use crate::store::Sealing;
use crate::upload::{Uploaded, upload_pages};
use crate::{Body, Context, Services};

/// The most that one request writes.
pub(super) const WRITE_LIMIT: u64 = 4 * 1024 * 1024;

pub struct PutRange {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub range: Range<u64>,
    pub digests: Digests,
    /// The time of the last write is not moved.
    pub keeps_last_write_time: bool,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub struct RangeStored {
    pub stamped: Stamped,
    pub last_written: Timestamp,
    pub md5: Option<[u8; 16]>,
    pub crc64: u64,
}

impl PutRange {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<RangeStored> {
        let range = Some(&self.range);
        check_early(services, context, policy::PutRange, &self.at, &self.preconditions, range).await?;
        let Self { at, preconditions, range, digests, keeps_last_write_time, body } = self;
        let uploaded = receive(services, body, true, &digests).await?;
        if uploaded.length != range.end - range.start {
            return Err(Failure::invalid_header("Content-Length", &uploaded.length.to_string()).into());
        }
        let write = Write { at, preconditions, range, keeps_last_write_time };
        write.commit(services, context, policy::PutRange, uploaded).await
    }
}

/// Before a body is read: whether it could be written now.
pub(super) async fn check_early(
    services: &Services,
    context: &Context,
    op: impl Judged,
    at: &FileAddress,
    given: &Preconditions,
    range: Option<&Range<u64>>,
) -> Answer<()> {
    services
        .look(context, |view| async move {
            let file = view.path(at).await?.admit(op, given)?.file()?;
            Ok(range.map_or(Ok(()), |range| check_range(&file.record, range))?)
        })
        .await
}

/// The bytes of one request, stored and not yet part of a file.
pub(super) async fn receive(
    services: &Services,
    body: Body,
    with_md5: bool,
    digests: &Digests,
) -> Answer<Uploaded> {
    let with_md5 = with_md5 || digests.md5.is_some();
    let uploaded = upload_pages(services, body, WRITE_LIMIT, with_md5, &Sealing::default()).await?;
    digests.verify(&uploaded)?;
    Ok(uploaded)
}

/// Where bytes go that have been received.
pub(super) struct Write {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub range: Range<u64>,
    pub keeps_last_write_time: bool,
}

impl Write {
    /// `op` is Put Range, or Put Range From URL.
    pub async fn commit(
        self,
        services: &Services,
        context: &Context,
        op: impl Judged<Mode = Writes>,
        uploaded: Uploaded,
    ) -> Answer<RangeStored> {
        let Self { at, preconditions: given, range, keeps_last_write_time } = self;
        let (at, given, range, new) = (&at, &given, &range, &uploaded);
        let file = services
            .commit(context, |unit| async move {
                let mut file = unit.path(at).await?.admit(op, given)?.file()?;
                check_range(&file.record, range)?;
                file.record.note_write(unit.now(), keeps_last_write_time);
                file.write_range(range.clone(), new).await
            })
            .await?;
        Ok(RangeStored {
            stamped: file.stamped(),
            last_written: file.times.last_written,
            md5: uploaded.md5,
            crc64: uploaded.crc64,
        })
    }
}

#[derive(Clone, Debug)]
pub struct ClearRange {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub range: Range<u64>,
    pub keeps_last_write_time: bool,
}

impl ClearRange {
    /// The file's new ETag, and when it was last written.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<(Stamped, Timestamp)> {
        let input = &self;
        let file = services
            .commit(context, |unit| async move {
                let found = unit.path(&input.at).await?;
                let mut file = found.admit(policy::ClearRange, &input.preconditions)?.file()?;
                check_range(&file.record, &input.range)?;
                file.record.note_write(unit.now(), input.keeps_last_write_time);
                file.clear_range(input.range.clone()).await
            })
            .await?;
        Ok((file.stamped(), file.times.last_written))
    }
}

/// A write does not make a file longer.
pub(super) fn check_range(file: &PathRecord, range: &Range<u64>) -> Result<(), Failure> {
    if range.end > file.length() { Err(ErrorCode::InvalidRange.into()) } else { Ok(()) }
}
