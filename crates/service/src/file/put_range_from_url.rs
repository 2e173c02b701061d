//! Put Range From URL: a range of a file gets the bytes of a part of a source.

use std::ops::Range;

use lazuli_model::admission::Preconditions;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::policy;
use lazuli_model::range::ByteRange;

use super::FileAddress;
use super::put_range::{RangeStored, Write, check_early, receive};
use crate::blob::{CopySource, Digests, source_bytes};
use crate::fault::Answer;
use crate::{Context, Services};

const TOO_SHORT: &str =
    "The source request body for copy source does not match requested length to write on target.";

pub struct PutRangeFromUrl {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub range: Range<u64>,
    pub source: CopySource,
    /// As long as the range.
    pub source_range: Range<u64>,
    pub digests: Digests,
    pub keeps_last_write_time: bool,
    /// The bytes of the source must have this CRC-64.
    pub if_crc64: Option<u64>,
    /// They must not have this one.
    pub unless_crc64: Option<u64>,
}

impl PutRangeFromUrl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<RangeStored> {
        let op = policy::PutRangeFromUrl;
        // The source is looked at before the range that it is for (recorded): what is too far for both is its fault.
        check_early(services, context, op, &self.at, &self.preconditions, None).await?;
        let (start, end) = (self.source_range.start, self.source_range.end.saturating_sub(1));
        let wanted = ByteRange { start, end: Some(end) };
        let body = source_bytes(services, context, self.source, Some(wanted), op).await?;
        let uploaded = receive(services, body, false, &self.digests).await?;
        let is_met = self.if_crc64.is_none_or(|crc64| crc64 == uploaded.crc64)
            && self.unless_crc64.is_none_or(|crc64| crc64 != uploaded.crc64);
        if !is_met {
            return Err(ErrorCode::SourceConditionNotMet.into());
        }
        // The source ends within the range that was asked for (recorded).
        if uploaded.length != self.range.end - self.range.start {
            let failure = Failure::new(ErrorCode::CannotVerifyCopySource);
            return Err(failure.with_status(409).with_message(TOO_SHORT).into());
        }
        let write = Write {
            at: self.at,
            preconditions: self.preconditions,
            range: self.range,
            keeps_last_write_time: self.keeps_last_write_time,
        };
        write.commit(services, context, op, uploaded).await
    }
}
