//! Append Block From URL.

use lazuli_model::error::Failure;
use lazuli_service::blob::AppendBlockFromUrl;

use super::append_block::appended;
use super::properties::{customer_key, encryption_of, show_encryption};
use super::put_block_from_url::{source_digests, source_range, told_md5, untold};
use crate::call::Call;
use crate::reply::Reply;
use crate::{copy, decode};

pub async fn append_block_from_url(call: Call) -> Result<Reply, Failure> {
    let customer_key = customer_key(&call.head)?;
    let encryption = encryption_of(&call, customer_key.as_ref()).await?;
    let digests = source_digests(&call.head)?;
    let sent_md5 = digests.md5;
    let preconditions = call.preconditions()?;
    let range = source_range(&call.head)?;
    let asked = copy::source(&call, false).await?;
    let input = AppendBlockFromUrl {
        at: call.blob(),
        preconditions,
        source: asked.source,
        range,
        digests,
        limit: decode::append_block_limit(call.head.version),
        customer_key,
    };
    let block = input.execute(&call.services, &call.context).await.map_err(|fault| untold(fault.0))?;
    let sent_md5 = told_md5(&call.head, sent_md5, block.md5);
    Ok(show_encryption(appended(call.row, call.head.version, &block, sent_md5), &encryption))
}
