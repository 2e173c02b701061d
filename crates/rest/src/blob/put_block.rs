//! Put Block.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::error::Failure;
use lazuli_model::version::{ApiVersion, Feature};
use lazuli_service::blob::PutBlock;

use super::properties::{customer_key, encryption_of, show_encryption};
use crate::call::Call;
use crate::decode;
use crate::headers::name;
use crate::reply::Reply;
use crate::structured;

/// The longest block id, decoded.
pub(super) const BLOCK_ID_LENGTH: usize = 64;

pub async fn put_block(mut call: Call) -> Result<Reply, Failure> {
    let is_structured = structured::unwrap(&mut call)?;
    let digests = decode::digests(&call.head)?;
    let customer_key = customer_key(&call.head)?;
    let encryption = encryption_of(&call, customer_key.as_ref()).await?;
    let sent_md5 = digests.md5;
    let input = PutBlock {
        at: call.blob(),
        preconditions: call.preconditions()?,
        block_id: block_id(call.head.query("blockid"))?,
        digests,
        limit: decode::put_block_limit(call.head.version),
        customer_key,
        body: call.body,
    };
    let stored = input.execute(&call.services, &call.context).await?;
    let hash = TransportHash { sent_md5, computed_md5: stored.md5, crc64: stored.crc64 };
    let reply =
        hash.show(Reply::of(call.row), call.head.version).header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true);
    Ok(structured::show(show_encryption(reply, &encryption), is_structured))
}

/// The hashes of a body that came in.
pub struct TransportHash {
    pub sent_md5: Option<[u8; 16]>,
    pub computed_md5: Option<[u8; 16]>,
    pub crc64: u64,
}

impl TransportHash {
    /// The MD5 if the sender gave one, else the CRC-64; before there was a CRC-64, the MD5 in any case (recorded).
    pub fn show(&self, reply: Reply, version: ApiVersion) -> Reply {
        if !version.has(Feature::Crc64) {
            return reply.md5(name::CONTENT_MD5, self.sent_md5.or(self.computed_md5));
        }
        let both = version.has(Feature::BothHashesReturned);
        let crc64 = (both || self.sent_md5.is_none()).then_some(self.crc64);
        reply.md5(name::CONTENT_MD5, self.sent_md5).crc64(name::X_MS_CONTENT_CRC64, crc64)
    }
}

pub(super) fn block_id(text: Option<&str>) -> Result<Vec<u8>, Failure> {
    let text = text.ok_or_else(|| Failure::missing_query("blockid"))?;
    let refuse = |reason| Failure::invalid_query("blockid", text, reason);
    let id = BASE64_STANDARD.decode(text).map_err(|_| refuse("Not a valid base64 string."))?;
    if id.is_empty() || id.len() > BLOCK_ID_LENGTH {
        return Err(refuse("Block ID length must be between 1 and 64 bytes."));
    }
    Ok(id)
}
