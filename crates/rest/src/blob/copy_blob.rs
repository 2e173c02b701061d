//! Copy Blob, Copy Blob From URL, Put Blob From URL.

use lazuli_model::admission::Hold;
use lazuli_model::encryption::Encryption;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Op;
use lazuli_model::version::Feature;
use lazuli_service::blob::{CopiedTags, CopyBlob, GivenProperties};

use super::hold;
use super::properties::{customer_key, encryption_of, refuse_headers, show_encryption};
use crate::call::Call;
use crate::head::Head;
use crate::headers::{self, name};
use crate::reply::Reply;
use crate::{copy, decode};

/// Put Blob From URL does not take them.
const HOLD_HEADERS: [&str; 3] = [
    headers::X_MS_IMMUTABILITY_POLICY_UNTIL_DATE,
    headers::X_MS_IMMUTABILITY_POLICY_MODE,
    headers::X_MS_LEGAL_HOLD,
];

/// Only Put Blob From URL encrypts with a key of the customer's. To leave the key out would store what was to be secret.
const KEY_HEADERS: [&str; 3] =
    [headers::X_MS_ENCRYPTION_KEY, headers::X_MS_ENCRYPTION_KEY_SHA256, headers::X_MS_ENCRYPTION_ALGORITHM];

const MIB: u64 = 1024 * 1024;

pub async fn copy_blob(call: Call) -> Result<Reply, Failure> {
    let op = call.writing()?;
    let given = given(&call)?;
    let md5 = match call.row.op {
        Op::CopyBlob => None,
        _ => decode::md5(&call.head, headers::X_MS_SOURCE_CONTENT_MD5)?,
    };
    let preconditions = call.preconditions()?;
    let asked = copy::source(&call, matches!(given.tags, CopiedTags::Same)).await?;
    let encryption = encryption_of(&call, given.customer_key.as_ref()).await?;
    let input = CopyBlob {
        at: call.blob(),
        preconditions,
        source: asked.source,
        shown_source: asked.shown,
        given,
        md5,
        // Before there was a CRC-64, the answer was the MD5.
        tells_md5: call.row.op != Op::CopyBlob && !call.head.version.has(Feature::Crc64),
        limit: limit(call.row.op),
    };
    let copied = input.execute(&call.services, &call.context, op).await?;
    let reply = Reply::of(call.row).stamped(copied.stamped);
    if call.row.op == Op::CopyBlob {
        return Ok(reply
            .header(name::X_MS_COPY_ID, copied.id.to_string())
            .header(name::X_MS_COPY_STATUS, copied.status.as_str()));
    }
    let version = call.head.version;
    let tells_crc64 =
        version.has(Feature::Crc64) && (md5.is_none() || version.has(Feature::BothHashesReturned));
    let crc64 = copied.crc64.filter(|_| tells_crc64);
    let reply = reply.md5(name::CONTENT_MD5, copied.md5).crc64(name::X_MS_CONTENT_CRC64, crc64);
    if call.row.op == Op::CopyBlobFromUrl {
        let reply = reply
            .header(name::X_MS_COPY_ID, copied.id.to_string())
            .header(name::X_MS_COPY_STATUS, copied.status.as_str());
        let is_named = encryption != Encryption::Service;
        let reply = match is_named || version.has(Feature::CopyFromUrlTellsEncryption) {
            true => reply.header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true),
            false => reply,
        };
        return Ok(show_encryption(reply, &encryption));
    }
    let reply = reply.header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true);
    Ok(show_encryption(reply, &encryption))
}

/// The largest source. One that is copied while its client waits is bounded; that of Copy Blob is as large as a block blob
/// can be.
fn limit(op: Op) -> u64 {
    match op {
        Op::CopyBlobFromUrl => 256 * MIB,
        Op::PutBlobFromUrl => 5000 * MIB,
        _ => 50_000 * 4000 * MIB,
    }
}

fn given(call: &Call) -> Result<GivenProperties, Failure> {
    let head = &call.head;
    check_priority(head)?;
    let puts = call.row.op == Op::PutBlobFromUrl;
    let metadata = decode::metadata(head)?;
    let mut given = GivenProperties {
        metadata: (!metadata.is_empty()).then_some(metadata),
        tags: tags(call)?,
        tier: decode::tier(head)?,
        hold: if puts { Hold::NONE } else { hold::given(call)? },
        ..GivenProperties::default()
    };
    if call.row.op == Op::CopyBlob {
        given.seals = head.flag(headers::X_MS_SEAL_BLOB)?;
    }
    if !puts {
        refuse_headers(head, &KEY_HEADERS)?;
    }
    if puts {
        refuse_headers(head, &HOLD_HEADERS)?;
        given.headers = decode::content_headers(head, false)?;
        given.customer_key = customer_key(head)?;
        let copies = head.header(headers::X_MS_COPY_SOURCE_BLOB_PROPERTIES).is_none()
            || head.flag(headers::X_MS_COPY_SOURCE_BLOB_PROPERTIES)?;
        given.only_given_headers = !copies;
        if !copies {
            given.headers.content_type.get_or_insert_with(|| super::properties::DEFAULT_TYPE.to_owned());
        }
    }
    Ok(given)
}

/// An archived source is there at once here, whatever the priority: it is only checked.
fn check_priority(head: &Head) -> Result<(), Failure> {
    match head.header(headers::X_MS_REHYDRATE_PRIORITY) {
        Some(text) if !["Standard", "High"].iter().any(|known| known.eq_ignore_ascii_case(text)) => {
            Err(Failure::invalid_header(headers::X_MS_REHYDRATE_PRIORITY, text))
        }
        _ => Ok(()),
    }
}

/// Those that are given, or those of the source, or none.
fn tags(call: &Call) -> Result<CopiedTags, Failure> {
    let head = &call.head;
    let given = decode::tags(head)?;
    let same = match head.header(headers::X_MS_COPY_SOURCE_TAG_OPTION) {
        None => false,
        Some(text) if text.eq_ignore_ascii_case("COPY") => true,
        Some(text) if text.eq_ignore_ascii_case("REPLACE") => false,
        Some(text) => return Err(Failure::invalid_header(headers::X_MS_COPY_SOURCE_TAG_OPTION, text)),
    };
    match (given, same) {
        (Some(_), true) => Err(ErrorCode::BothUserTagsAndSourceTagsCopyPresentException.into()),
        (_, true) => Ok(CopiedTags::Same),
        (given, false) => Ok(CopiedTags::Given(given.unwrap_or_default())),
    }
}
