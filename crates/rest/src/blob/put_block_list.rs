//! Put Block List.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::version::Feature;
use lazuli_service::blob::{BlockSource, PutBlockList};

use super::properties::{blob_properties, encryption_of, show_encryption};
use super::put_block::{BLOCK_ID_LENGTH, TransportHash};
use crate::call::Call;
use crate::decode;
use crate::headers;
use crate::reply::Reply;
use crate::xml;

const BLOCKS: usize = 50_000;
/// 50,000 of the longest ids with their tags.
const BODY_LIMIT: usize = 8 * 1024 * 1024;

pub async fn put_block_list(call: Call) -> Result<Reply, Failure> {
    let properties = blob_properties(&call, false)?;
    let digests = decode::digests(&call.head)?;
    let (at, preconditions) = (call.blob(), call.preconditions()?);
    let encryption = encryption_of(&call, properties.customer_key.as_ref()).await?;
    let document = call.body.collect(BODY_LIMIT, &call.services).await?;
    let length = document.len();
    let (sent_md5, with_md5) = (digests.md5, !call.head.version.has(Feature::Crc64));
    let read = move || {
        let crc64 = digests.verify_bytes(&document)?;
        let computed_md5 = with_md5.then(|| lazuli_service::md5(&document));
        Ok::<_, Failure>((TransportHash { sent_md5, computed_md5, crc64 }, block_list(&document)?))
    };
    let (hash, blocks) = call.services.compute(length, read).await??;
    let input = PutBlockList { at, preconditions, properties, blocks };
    let stamped = input.execute(&call.services, &call.context).await?;
    let reply = hash
        .show(Reply::of(call.row).stamped(stamped), call.head.version)
        .header(headers::X_MS_REQUEST_SERVER_ENCRYPTED, true);
    Ok(show_encryption(reply, &encryption))
}

fn block_list(document: &[u8]) -> Result<Vec<(BlockSource, Vec<u8>)>, Failure> {
    let mut blocks = Vec::new();
    xml::walk_list(document, "BlockList", |name, text| {
        let source = match name {
            "Committed" => BlockSource::Committed,
            "Uncommitted" => BlockSource::Uncommitted,
            "Latest" => BlockSource::Latest,
            _ => return Err(ErrorCode::InvalidXmlDocument.into()),
        };
        if blocks.len() == BLOCKS {
            return Err(ErrorCode::BlockListTooLong.into());
        }
        let id = BASE64_STANDARD.decode(text).map_err(|_| ErrorCode::InvalidBlockId)?;
        if !(1..=BLOCK_ID_LENGTH).contains(&id.len()) {
            return Err(ErrorCode::InvalidBlockId.into());
        }
        blocks.push((source, id));
        Ok(())
    })?;
    Ok(blocks)
}
