//! Append Block.

use lazuli_model::error::Failure;
use lazuli_model::operation::{Row, policy};
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::{AppendBlock, Appended};

use super::properties::{customer_key, encryption_of, show_encryption};
use super::put_block::TransportHash;
use crate::call::Call;
use crate::decode;
use crate::headers::name;
use crate::reply::Reply;
use crate::structured;

pub async fn append_block(mut call: Call) -> Result<Reply, Failure> {
    let is_structured = structured::unwrap(&mut call)?;
    if call.head.content_length()? == Some(0) {
        return Err(Failure::invalid_header("Content-Length", "0"));
    }
    let digests = decode::digests(&call.head)?;
    let customer_key = customer_key(&call.head)?;
    let encryption = encryption_of(&call, customer_key.as_ref()).await?;
    let sent_md5 = digests.md5;
    let input = AppendBlock {
        at: call.blob(),
        preconditions: call.preconditions()?,
        digests,
        limit: decode::append_block_limit(call.head.version),
        customer_key,
        body: call.body,
    };
    let block = input.execute(&call.services, &call.context, policy::AppendBlock).await?;
    let reply = appended(call.row, call.head.version, &block, sent_md5);
    Ok(structured::show(show_encryption(reply, &encryption), is_structured))
}

/// What both ways of appending a block tell of it.
pub(super) fn appended(
    row: &Row,
    version: ApiVersion,
    block: &Appended,
    sent_md5: Option<[u8; 16]>,
) -> Reply {
    let hash = TransportHash { sent_md5, computed_md5: block.md5, crc64: block.crc64 };
    hash.show(Reply::of(row).stamped(block.block.stamped), version)
        .header(name::X_MS_BLOB_APPEND_OFFSET, block.block.offset)
        .header(name::X_MS_BLOB_COMMITTED_BLOCK_COUNT, u64::from(block.block.blocks))
        .header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true)
}
