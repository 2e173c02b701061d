//! What several operations read from their headers and parameters.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::access::PublicAccess;
use lazuli_model::admission::{LeaseAction, LeaseDuration, LeaseId};
use lazuli_model::blob::{ContentHeaders, ContentMd5, Tier};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, Row};
use lazuli_model::range::ByteRange;
use lazuli_model::tags::Tags;
use lazuli_model::version::{ApiVersion, Feature};
use lazuli_service::blob::Digests;

use crate::head::Head;
use crate::headers::{self, spelled};
use crate::preconditions::lease_id;

/// The pairs of `x-ms-meta-*` in the order sent, names as they were spelled.
pub fn metadata(head: &Head) -> Result<Metadata, Failure> {
    let mut pairs = Vec::new();
    for (name, value) in head.headers.iter() {
        if let Some(name) = name.as_str().strip_prefix(headers::X_MS_META_PREFIX) {
            let value = std::str::from_utf8(value.as_bytes()).map_err(|_| ErrorCode::InvalidMetadata)?;
            let spelled = head.metadata_names.iter().find(|spelled| spelled.eq_ignore_ascii_case(name));
            pairs.push((spelled.map_or(name, String::as_str).to_owned(), value.to_owned()));
        }
    }
    Metadata::from_pairs(pairs)
}

/// `x-ms-blob-content-*`. A type that only Content-Type gives counts too, where a body is stored.
pub fn content_headers(head: &Head, with_content_type: bool) -> Result<ContentHeaders, Failure> {
    let text = |name| head.header(name).map(str::to_owned);
    let own_type = text(headers::X_MS_BLOB_CONTENT_TYPE);
    let body_type = if with_content_type { text(headers::CONTENT_TYPE) } else { None };
    Ok(ContentHeaders {
        content_type: own_type.or(body_type),
        content_encoding: text(headers::X_MS_BLOB_CONTENT_ENCODING),
        content_language: text(headers::X_MS_BLOB_CONTENT_LANGUAGE),
        content_disposition: text(headers::X_MS_BLOB_CONTENT_DISPOSITION),
        cache_control: text(headers::X_MS_BLOB_CACHE_CONTROL),
        content_md5: blob_md5(head)?,
    })
}

/// The longest text that is kept as an MD5, decoded.
const BLOB_MD5_LENGTH: usize = 1024;

/// `x-ms-blob-content-md5`: base64 of anything. That it is a digest, and which, only Put Blob asks.
fn blob_md5(head: &Head) -> Result<ContentMd5, Failure> {
    let Some(text) = head.header(headers::X_MS_BLOB_CONTENT_MD5) else { return Ok(ContentMd5::None) };
    let bytes = BASE64_STANDARD.decode(text).ok().filter(|bytes| bytes.len() <= BLOB_MD5_LENGTH);
    bytes.map(ContentMd5::of).ok_or_else(|| ErrorCode::InvalidMd5.into())
}

/// 16 bytes in base64.
pub fn md5(head: &Head, name: &'static str) -> Result<Option<[u8; 16]>, Failure> {
    let Some(text) = head.header(name) else { return Ok(None) };
    let bytes = BASE64_STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.map(Some).ok_or_else(|| ErrorCode::InvalidMd5.into())
}

/// Eight bytes in base64, least significant first.
pub fn crc64(head: &Head, name: &'static str) -> Result<Option<u64>, Failure> {
    let Some(text) = head.header(name) else { return Ok(None) };
    let bytes: Option<[u8; 8]> = BASE64_STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.map(|bytes| Some(u64::from_le_bytes(bytes))).ok_or_else(|| Failure::invalid_header(name, text))
}

/// The check of a body on its way: an MD5 or a CRC-64, not both.
pub fn digests(head: &Head) -> Result<Digests, Failure> {
    let md5 = md5(head, headers::CONTENT_MD5)?;
    let crc64 = match head.version.has(Feature::Crc64) {
        true => crc64(head, headers::X_MS_CONTENT_CRC64)?,
        false => None,
    };
    if md5.is_some() && crc64.is_some() {
        return Err(ErrorCode::BothCrc64AndMd5HeaderPresent.into());
    }
    Ok(Digests { md5, crc64 })
}

/// None when the header is absent: an overwrite without it clears the tags.
pub fn tags(head: &Head) -> Result<Option<Tags>, Failure> {
    head.header(headers::X_MS_TAGS).map(Tags::parse_header).transpose()
}

/// Tiers of block blobs; those of page blobs are no tier here.
pub fn tier(head: &Head) -> Result<Option<Tier>, Failure> {
    let Some(text) = head.header(headers::X_MS_ACCESS_TIER) else { return Ok(None) };
    let known = [
        ("Hot", Tier::Hot, None),
        ("Cool", Tier::Cool, None),
        ("Cold", Tier::Cold, Some(Feature::ColdTier)),
        ("Archive", Tier::Archive, None),
        ("Smart", Tier::Smart, Some(Feature::SmartTier)),
    ];
    let is_there = |feature: Option<Feature>| feature.is_none_or(|feature| head.version.has(feature));
    let mut found = known.into_iter().filter(|(name, ..)| name.eq_ignore_ascii_case(text));
    let found = found.next().filter(|(.., since)| is_there(*since)).map(|(_, tier, _)| tier);
    found.map(Some).ok_or_else(|| Failure::invalid_header(headers::X_MS_ACCESS_TIER, text))
}

/// `x-ms-range` before `Range`; a form that the service does not know is no range.
pub fn range(head: &Head) -> Option<ByteRange> {
    let text = head.header(headers::X_MS_RANGE).or_else(|| head.header(headers::RANGE))?;
    let range = ByteRange::parse(text)?;
    (range.end.is_some() || head.version.has(Feature::OpenEndedRanges)).then_some(range)
}

pub fn public_access(head: &Head) -> Result<PublicAccess, Failure> {
    match head.header(headers::X_MS_BLOB_PUBLIC_ACCESS) {
        None => Ok(PublicAccess::Private),
        Some(text) if text.eq_ignore_ascii_case("blob") => Ok(PublicAccess::Blob),
        // The oldest versions knew one level only.
        Some(text) if text.eq_ignore_ascii_case("container") || text.eq_ignore_ascii_case("true") => {
            Ok(PublicAccess::Container)
        }
        Some(text) => Err(Failure::invalid_header(headers::X_MS_BLOB_PUBLIC_ACCESS, text)),
    }
}

/// The action of a lease operation with its parameters. The row says which of the five it is.
pub fn lease_action(head: &Head, row: &Row) -> Result<LeaseAction, Failure> {
    let proposed = || lease_id(head, headers::X_MS_PROPOSED_LEASE_ID);
    let id = || {
        lease_id(head, headers::X_MS_LEASE_ID)?.ok_or_else(|| Failure::missing_header(headers::X_MS_LEASE_ID))
    };
    Ok(match row.op {
        Op::AcquireFileLease => {
            LeaseAction::Acquire { proposed: proposed()?, duration: file_lease_duration(head)? }
        }
        Op::AcquireBlobLease | Op::AcquireContainerLease | Op::AcquireShareLease => {
            LeaseAction::Acquire { proposed: proposed()?, duration: lease_duration(head)? }
        }
        Op::RenewBlobLease | Op::RenewContainerLease | Op::RenewShareLease => {
            LeaseAction::Renew { id: id()? }
        }
        // Without ids a file that is not leased says so (recorded), and no lease has the id of none.
        Op::ChangeFileLease => {
            let none = LeaseId(uuid::Uuid::nil());
            let id = lease_id(head, headers::X_MS_LEASE_ID)?.unwrap_or(none);
            LeaseAction::Change { id, proposed: proposed()?.unwrap_or(none) }
        }
        Op::ChangeBlobLease | Op::ChangeContainerLease | Op::ChangeShareLease => {
            let missing = || Failure::missing_header(headers::X_MS_PROPOSED_LEASE_ID);
            LeaseAction::Change { id: id()?, proposed: proposed()?.ok_or_else(missing)? }
        }
        Op::ReleaseBlobLease | Op::ReleaseContainerLease | Op::ReleaseShareLease | Op::ReleaseFileLease => {
            LeaseAction::Release { id: id()? }
        }
        Op::BreakBlobLease | Op::BreakContainerLease | Op::BreakShareLease => {
            LeaseAction::Break { period: break_period(head)? }
        }
        // Infinite leases break at once.
        Op::BreakFileLease => LeaseAction::Break { period: None },
        _ => return Err(ErrorCode::InvalidInput.into()),
    })
}

/// 15 to 60 seconds, or -1. Before the rework of leases every one took a minute.
fn lease_duration(head: &Head) -> Result<LeaseDuration, Failure> {
    const NAME: &str = headers::X_MS_LEASE_DURATION;
    if !head.version.has(Feature::LeaseRework) {
        return Ok(LeaseDuration::Fixed { seconds: 60 });
    }
    let text = head.required_header(NAME)?;
    let seconds: Option<i64> = text.parse().ok();
    seconds.and_then(LeaseDuration::from_seconds).ok_or_else(|| Failure::invalid_header(NAME, text))
}

/// Leases of files never end by themselves, whether the request says so or not.
fn file_lease_duration(head: &Head) -> Result<LeaseDuration, Failure> {
    const NAME: &str = headers::X_MS_LEASE_DURATION;
    match head.header(NAME) {
        None | Some("-1") => Ok(LeaseDuration::Infinite),
        Some(text) => Err(Failure::invalid_header(NAME, text)),
    }
}

fn break_period(head: &Head) -> Result<Option<u8>, Failure> {
    const NAME: &str = headers::X_MS_LEASE_BREAK_PERIOD;
    let Some(text) = head.header(NAME) else { return Ok(None) };
    let seconds: Option<u8> =
        text.parse().ok().filter(|seconds| *seconds <= lazuli_model::admission::lease::BREAK_PERIOD_MAX);
    seconds.map(Some).ok_or_else(|| Failure::invalid_header(NAME, text))
}

/// `maxresults`: at least 1; more than `most` is `most`.
pub fn max_results(head: &Head, most: u32) -> Result<u32, Failure> {
    let Some(text) = head.query("maxresults") else { return Ok(most) };
    let number: i64 =
        text.parse().map_err(|_| Failure::invalid_query("maxresults", text, "Failed to parse."))?;
    if number < 1 {
        return Err(Failure::out_of_range_query("maxresults", text, 1, i32::MAX));
    }
    Ok(u32::try_from(number).unwrap_or(most).min(most))
}

/// `include=a,b`, also given several times.
pub fn include<'a>(head: &'a Head, known: &[&str]) -> Result<Vec<&'a str>, Failure> {
    let values = head.query.pairs().filter(|(name, _)| name.eq_ignore_ascii_case("include"));
    let words = values.flat_map(|(_, value)| value.split(',')).map(str::trim).filter(|word| !word.is_empty());
    let mut included = Vec::new();
    for word in words {
        if !known.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            return Err(Failure::invalid_query("include", word, "Invalid query parameter value."));
        }
        included.push(word);
    }
    Ok(included)
}

const MIB: u64 = 1024 * 1024;

/// The most that one Put Blob may carry.
pub fn put_blob_limit(version: ApiVersion) -> u64 {
    if version.has(Feature::Blocks4000MiB) {
        5000 * MIB
    } else if version.has(Feature::Blocks100MiB) {
        256 * MIB
    } else {
        64 * MIB
    }
}

pub fn put_block_limit(version: ApiVersion) -> u64 {
    if version.has(Feature::Blocks4000MiB) {
        4000 * MIB
    } else if version.has(Feature::Blocks100MiB) {
        100 * MIB
    } else {
        4 * MIB
    }
}

pub fn append_block_limit(version: ApiVersion) -> u64 {
    if version.has(Feature::AppendBlocks100MiB) { 100 * MIB } else { 4 * MIB }
}

/// A header that the operation cannot do without, with the name as errors spell it.
pub fn required<'a>(head: &'a Head, name: &'static str) -> Result<&'a str, Failure> {
    head.header(name).ok_or_else(|| Failure::missing_header(spelled(name)))
}

#[cfg(test)]
mod tests;
