//! Put Block From URL.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::range::ByteRange;
use lazuli_service::blob::{Digests, PutBlockFromUrl};

use super::properties::{customer_key, encryption_of, show_encryption};
use super::put_block::{TransportHash, block_id};
use crate::call::Call;
use crate::head::Head;
use crate::headers::{self, name};
use crate::reply::Reply;
use crate::{copy, decode};

pub async fn put_block_from_url(call: Call) -> Result<Reply, Failure> {
    let customer_key = customer_key(&call.head)?;
    let digests = source_digests(&call.head)?;
    let encryption = encryption_of(&call, customer_key.as_ref()).await?;
    let sent_md5 = digests.md5;
    let preconditions = call.preconditions()?;
    let block_id = block_id(call.head.query("blockid"))?;
    let range = source_range(&call.head)?;
    let asked = copy::source(&call, false).await?;
    let input = PutBlockFromUrl {
        at: call.blob(),
        preconditions,
        block_id,
        source: asked.source,
        range,
        digests,
        limit: decode::put_block_limit(call.head.version),
        customer_key,
    };
    let stored = input.execute(&call.services, &call.context).await?;
    let hash = TransportHash { sent_md5, computed_md5: stored.md5, crc64: stored.crc64 };
    let reply =
        hash.show(Reply::of(call.row), call.head.version).header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true);
    Ok(show_encryption(reply, &encryption))
}

/// Append Block and Put Page From URL tell the MD5 of what they wrote, also where none was sent; with a token for the source
/// they tell the CRC-64 as others do (both recorded).
pub(super) fn told_md5(head: &Head, sent: Option<[u8; 16]>, computed: Option<[u8; 16]>) -> Option<[u8; 16]> {
    match head.header(headers::X_MS_COPY_SOURCE_AUTHORIZATION) {
        Some(_) => sent,
        None => sent.or(computed),
    }
}

/// The same two do not tell what the bytes hash to when that is not what was sent (recorded).
pub(super) fn untold(failure: Failure) -> Failure {
    match failure.code {
        ErrorCode::Md5Mismatch | ErrorCode::Crc64Mismatch => failure.code.into(),
        _ => failure,
    }
}

/// `x-ms-source-range`: a form that cannot be read is refused, lest all of the source be copied.
pub(crate) fn source_range(head: &Head) -> Result<Option<ByteRange>, Failure> {
    match head.header(headers::X_MS_SOURCE_RANGE) {
        None => Ok(None),
        Some(text) => ByteRange::parse(text)
            .map(Some)
            .ok_or_else(|| Failure::invalid_header(headers::X_MS_SOURCE_RANGE, text)),
    }
}

/// What the bytes of the source hash to: an MD5 or a CRC-64, not both.
pub(super) fn source_digests(head: &Head) -> Result<Digests, Failure> {
    let md5 = decode::md5(head, headers::X_MS_SOURCE_CONTENT_MD5)?;
    let crc64 = decode::crc64(head, headers::X_MS_SOURCE_CONTENT_CRC64)?;
    if md5.is_some() && crc64.is_some() {
        return Err(ErrorCode::BothCrc64AndMd5HeaderPresent.into());
    }
    Ok(Digests { md5, crc64 })
}
