//! Put Range: update and clear.

use lazuli_model::error::Failure;
use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;
use lazuli_service::file::{ClearRange, PutRange};

use super::range_headers::{cleared, written};
use super::smb_headers::keeps_last_write_time;
use crate::call::Call;
use crate::head::Head;
use crate::headers::{self, name};
use crate::reply::Reply;
use crate::{decode, structured};

pub async fn put_range(mut call: Call) -> Result<Reply, Failure> {
    let is_structured = structured::unwrap(&mut call)?;
    let range = written(&call.head, call.body.length.filter(|_| is_structured))?;
    let input = PutRange {
        at: call.path()?,
        preconditions: call.preconditions()?,
        range,
        digests: decode::digests(&call.head)?,
        keeps_last_write_time: keeps_last_write_time(&call.head)?,
        body: call.body,
    };
    let stored = input.execute(&call.services, &call.context).await?;
    // The MD5 in any case (recorded).
    let reply = Reply::of(call.row)
        .stamped(stored.stamped)
        .md5(name::CONTENT_MD5, stored.md5)
        .header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true);
    let reply = show_last_write_time(reply, &call.head, stored.last_written);
    Ok(structured::show(reply, is_structured))
}

pub async fn clear_range(call: Call) -> Result<Reply, Failure> {
    let input = ClearRange {
        at: call.path()?,
        preconditions: call.preconditions()?,
        range: cleared(&call.head)?,
        keeps_last_write_time: keeps_last_write_time(&call.head)?,
    };
    let (stamped, last_written) = input.execute(&call.services, &call.context).await?;
    Ok(show_last_write_time(Reply::of(call.row).stamped(stamped), &call.head, last_written))
}

/// Since requests may say what is to become of it.
pub(super) fn show_last_write_time(reply: Reply, head: &Head, last_written: Timestamp) -> Reply {
    match head.version.has(Feature::SmbHeadersOptional) {
        true => reply.header(headers::X_MS_FILE_LAST_WRITE_TIME, last_written.iso7()),
        false => reply,
    }
}
