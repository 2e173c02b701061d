//! Get Blob, Get Blob Properties, Get Blob Metadata.

use bytes::Bytes;
use http::HeaderValue;
use lazuli_model::admission::lease;
use lazuli_model::blob::{BlobType, Tier};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use lazuli_model::version::{ApiVersion, Feature};
use lazuli_service::blob::{BlobRecord, BlobState, Found, GetBlob, GetBlobProperties};
use lazuli_service::download::Download;

use super::properties::{customer_key, show_encryption};
use super::{copy_state, hold};
use crate::call::Call;
use crate::decode;
use crate::headers::{self, name};
use crate::reply::Reply;
use crate::structured;

/// The longest range whose hash is computed on the way.
const HASHED_RANGE: u64 = 4 * 1024 * 1024;

pub async fn get_blob(call: Call) -> Result<Reply, Failure> {
    let is_structured = structured::is_asked(&call.head)?;
    let wanted = RangeHash::read(&call)?;
    let range = decode::range(&call.head);
    let input = GetBlob { properties: properties(&call)?, range };
    let (found, content) = input.execute(&call.services, &call.context, call.reading()).await?;
    let length = found.blob.length();
    let (at, mut download) = match content {
        Ok(content) => content,
        Err(failure) => {
            return Ok(Reply::refused(failure).header(name::CONTENT_RANGE, format!("bytes */{length}")));
        }
    };
    if wanted != RangeHash::None && (range.is_none() || at.end - at.start > HASHED_RANGE) {
        return Err(wanted.refuse(range.is_none()));
    }
    let mut reply = describe(&call, &found);
    if range.is_some() {
        reply = reply
            .otherwise(call.row)
            .header(name::CONTENT_RANGE, format!("bytes {}-{}/{length}", at.start, at.end.saturating_sub(1)))
            .content_md5(name::X_MS_BLOB_CONTENT_MD5, &found.blob.headers.content_md5);
    } else {
        reply = reply.content_md5(name::CONTENT_MD5, &found.blob.headers.content_md5);
    }
    if call.head.version.has(Feature::TierHeadersOnGetBlob) {
        reply = show_tier(reply, &found.blob, call.head.version);
    }
    let reply = structured::show(reply, is_structured);
    if is_structured {
        let reply = reply.header(headers::X_MS_STRUCTURED_CONTENT_LENGTH, download.length());
        return Ok(reply.structured(download));
    }
    if wanted == RangeHash::None {
        return Ok(reply.download(download));
    }
    let hashed =
        call.services.aside(async move { gather(&mut download).await.map(|bytes| wanted.of(bytes)) });
    let (bytes, hash) = hashed.await??;
    let reply = match hash {
        Hash::Md5(md5) => reply.md5(name::CONTENT_MD5, Some(md5)),
        Hash::Crc64(crc64) => reply.crc64(name::X_MS_CONTENT_CRC64, Some(crc64)),
    };
    Ok(reply.bytes(bytes))
}

pub async fn get_blob_properties(call: Call) -> Result<Reply, Failure> {
    let found = properties(&call)?.execute(&call.services, &call.context, call.reading()).await?;
    let reply = describe(&call, &found)
        .header(name::CONTENT_LENGTH, found.blob.length())
        .maybe(name::X_MS_EXPIRY_TIME, found.blob.extras().expires.map(Timestamp::rfc1123))
        .content_md5(name::CONTENT_MD5, &found.blob.headers.content_md5);
    let reply = copy_state::show_incremental(reply, found.blob.extras().copy.as_ref());
    Ok(show_tier(reply, &found.blob, call.head.version))
}

/// Block blobs have one, given or inferred. In old versions every blob had (recorded).
fn show_tier(reply: Reply, blob: &BlobRecord, version: ApiVersion) -> Reply {
    if blob.kind != BlobType::Block && version.has(Feature::TierOfBlockBlobsOnly) {
        return reply;
    }
    let Some(explicit) = blob.tier else {
        let reply = reply.header(name::X_MS_ACCESS_TIER, Tier::Hot.as_str());
        return reply.header(name::X_MS_ACCESS_TIER_INFERRED, true);
    };
    let rehydration = blob.extras().rehydration;
    reply
        .header(name::X_MS_ACCESS_TIER, explicit.tier.as_str())
        .maybe(name::X_MS_ARCHIVE_STATUS, rehydration.map(|pending| pending.to.archive_status()))
        .maybe(name::X_MS_REHYDRATE_PRIORITY, rehydration.map(|pending| pending.priority.as_str()))
        .header(name::X_MS_ACCESS_TIER_CHANGE_TIME, explicit.changed.rfc1123())
        .maybe(name::X_MS_SMART_ACCESS_TIER, chosen_tier(explicit.tier))
}

/// The tier that a smart one stands for at the moment. Here it never moves.
pub fn chosen_tier(tier: Tier) -> Option<&'static str> {
    (tier == Tier::Smart).then(|| Tier::Hot.as_str())
}

pub async fn get_blob_metadata(call: Call) -> Result<Reply, Failure> {
    let found = properties(&call)?.execute(&call.services, &call.context, call.reading()).await?;
    Ok(Reply::of(call.row).stamped(found.blob.stamped()).metadata(found.blob.metadata.iter()))
}

pub(super) fn properties(call: &Call) -> Result<GetBlobProperties, Failure> {
    Ok(GetBlobProperties {
        at: call.blob(),
        state: call.state(),
        preconditions: call.preconditions()?,
        customer_key: customer_key(&call.head)?,
    })
}

/// What every read of a blob says about it.
pub(super) fn describe(call: &Call, found: &Found) -> Reply {
    let Found { blob, now, state, is_current } = found;
    let (own, instead) = (&blob.headers, &call.grant.overrides);
    let mut reply = Reply::of(call.row)
        .stamped(blob.stamped())
        .header(name::ACCEPT_RANGES, HeaderValue::from_static("bytes"))
        .maybe(name::CONTENT_TYPE, instead.content_type.as_ref().or(own.content_type.as_ref()))
        .maybe(name::CONTENT_ENCODING, instead.content_encoding.as_ref().or(own.content_encoding.as_ref()))
        .maybe(name::CONTENT_LANGUAGE, instead.content_language.as_ref().or(own.content_language.as_ref()))
        .maybe(
            name::CONTENT_DISPOSITION,
            instead.content_disposition.as_ref().or(own.content_disposition.as_ref()),
        )
        .maybe(name::CACHE_CONTROL, instead.cache_control.as_ref().or(own.cache_control.as_ref()))
        .header(name::X_MS_BLOB_TYPE, HeaderValue::from_static(blob.kind.as_str()))
        .header(name::X_MS_CREATION_TIME, blob.created.rfc1123())
        .header(name::X_MS_SERVER_ENCRYPTED, true)
        .metadata(blob.metadata.iter());
    if state.snapshot().is_none() {
        reply = reply.version(blob.version());
        if *is_current && blob.version().is_some() {
            reply = reply.header(name::X_MS_IS_CURRENT_VERSION, true);
        }
    }
    if *state == BlobState::Base {
        let state = lease::state(blob.lease.as_ref(), *now);
        reply = reply
            .header(name::X_MS_LEASE_STATUS, HeaderValue::from_static(state.status()))
            .header(name::X_MS_LEASE_STATE, HeaderValue::from_static(state.as_str()));
        if let (Some(held), lease::LeaseState::Leased) = (&blob.lease, state) {
            reply = reply.header(name::X_MS_LEASE_DURATION, held.duration.as_str());
        }
    }
    if !blob.tags.is_empty() && call.grant.may_read_tags {
        reply = reply.header(name::X_MS_TAG_COUNT, blob.tags.len() as u64);
    }
    if blob.kind == BlobType::Page {
        reply = reply.header(name::X_MS_BLOB_SEQUENCE_NUMBER, blob.sequence_number);
    }
    if blob.kind == BlobType::Append {
        reply = reply.header(name::X_MS_BLOB_COMMITTED_BLOCK_COUNT, u64::from(blob.committed_blocks()));
    }
    if blob.sealed {
        reply = reply.header(name::X_MS_BLOB_SEALED, true);
    }
    if call.features().last_access_time {
        reply = reply.header(name::X_MS_LAST_ACCESS_TIME, blob.last_access().rfc1123());
    }
    let reply = hold::show(reply, blob);
    let reply = copy_state::show(reply, blob.extras().copy.as_ref());
    show_encryption(reply, &blob.encryption())
}

/// A hash of just the bytes asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RangeHash {
    None,
    Md5,
    Crc64,
}

enum Hash {
    Md5([u8; 16]),
    Crc64(u64),
}

impl RangeHash {
    fn read(call: &Call) -> Result<Self, Failure> {
        let md5 = call.head.flag(headers::X_MS_RANGE_GET_CONTENT_MD5)?;
        let crc64 = call.head.flag(headers::X_MS_RANGE_GET_CONTENT_CRC64)?;
        match (md5, crc64) {
            (true, true) => Err(ErrorCode::BothCrc64AndMd5RangeHeaderPresent.into()),
            (true, false) => Ok(Self::Md5),
            (false, true) => Ok(Self::Crc64),
            (false, false) => Ok(Self::None),
        }
    }

    fn of(self, bytes: Vec<u8>) -> (Bytes, Hash) {
        let hash = match self {
            Self::Crc64 => Hash::Crc64(lazuli_service::crc64(&bytes)),
            _ => Hash::Md5(lazuli_service::md5(&bytes)),
        };
        (bytes.into(), hash)
    }

    fn refuse(self, without_range: bool) -> Failure {
        let name = match self {
            Self::Crc64 => headers::X_MS_RANGE_GET_CONTENT_CRC64,
            _ => headers::X_MS_RANGE_GET_CONTENT_MD5,
        };
        if without_range { Failure::invalid_header(name, "true") } else { ErrorCode::OutOfRangeInput.into() }
    }
}

/// All of a download, which is short.
pub(crate) async fn gather(download: &mut Download) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::with_capacity(usize::try_from(download.length()).unwrap_or(0));
    while let Some(part) = download.next().await {
        bytes.extend_from_slice(&part?);
    }
    Ok(bytes)
}
