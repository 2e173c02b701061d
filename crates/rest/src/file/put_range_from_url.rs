//! Put Range From URL.

use lazuli_model::error::Failure;
use lazuli_service::blob::Digests;
use lazuli_service::file::PutRangeFromUrl;

use super::put_range::show_last_write_time;
use super::range_headers::{source, written_from_url};
use super::smb_headers::keeps_last_write_time;
use crate::call::Call;
use crate::headers::{self, name};
use crate::reply::Reply;
use crate::{copy, decode};

pub async fn put_range_from_url(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let range = written_from_url(head)?;
    let source_range = source(head, &range)?;
    let preconditions = call.preconditions()?;
    let crc64 = |name| decode::crc64(head, name);
    let digests = Digests { md5: None, crc64: crc64(headers::X_MS_SOURCE_CONTENT_CRC64)? };
    let (if_crc64, unless_crc64) =
        (crc64(headers::X_MS_SOURCE_IF_MATCH_CRC64)?, crc64(headers::X_MS_SOURCE_IF_NONE_MATCH_CRC64)?);
    let input = PutRangeFromUrl {
        at: call.path()?,
        preconditions,
        range,
        source: copy::source(&call, false).await?.source,
        source_range,
        digests,
        keeps_last_write_time: keeps_last_write_time(head)?,
        if_crc64,
        unless_crc64,
    };
    let stored = input.execute(&call.services, &call.context).await?;
    let reply = Reply::of(call.row)
        .stamped(stored.stamped)
        .crc64(name::X_MS_CONTENT_CRC64, Some(stored.crc64))
        .header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true);
    Ok(show_last_write_time(reply, &call.head, stored.last_written))
}
