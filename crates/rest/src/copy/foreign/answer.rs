//! What a source elsewhere answered.

use std::ops::Range;

use http::response::Parts;
use http::{HeaderMap, Response};
use hyper::body::Incoming;
use lazuli_model::blob::{BlobType, ContentHeaders, ContentMd5};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, Source};
use lazuli_model::range::ByteRange;
use lazuli_service::blob::{ForeignAddress, ForeignSource, SourceType};

use super::pace::paced;
use super::request::SourceRequest;
use crate::headers;

const PAGE: u64 = 512;
/// Of an append blob.
const BLOCKS: u32 = 50_000;

/// Only an answer with the bytes will do: a redirection is not followed.
pub(super) fn source_of(answer: Response<Incoming>, asked: &SourceRequest) -> Result<ForeignSource, Failure> {
    let status = answer.status().as_u16();
    let wanted = if asked.range.is_some() { 206 } else { 200 };
    if status != wanted && status != 200 {
        return Err(told(status, asked));
    }
    let (parts, body) = answer.into_parts();
    let text = |name: &str| text(&parts, name);
    let length = text(headers::CONTENT_LENGTH).and_then(|text| text.trim().parse().ok());
    let length: u64 = length.ok_or_else(|| contradicted("the source tells no length"))?;
    // A source that ignores ranges sends all of it, which is not what was asked for.
    if status != wanted {
        return Err(told(416, asked));
    }
    if let Some(range) = asked.range {
        check_range(text(headers::CONTENT_RANGE).as_deref(), range, length)?;
    }
    let content_md5 = text(headers::CONTENT_MD5).and_then(|text| {
        use base64::Engine as _;
        base64::prelude::BASE64_STANDARD.decode(text).ok()
    });
    let headers = ContentHeaders {
        content_type: text(headers::CONTENT_TYPE),
        content_encoding: text(headers::CONTENT_ENCODING),
        content_language: text(headers::CONTENT_LANGUAGE),
        content_disposition: text(headers::CONTENT_DISPOSITION),
        cache_control: text(headers::CACHE_CONTROL),
        content_md5: content_md5.filter(|md5| md5.len() == 16).map_or(ContentMd5::None, ContentMd5::of),
    };
    let metadata = metadata(&parts.headers);
    let kind = match text(headers::X_MS_BLOB_TYPE).as_deref() {
        Some("PageBlob") => BlobType::Page,
        Some("AppendBlob") => BlobType::Append,
        // A file is copied as a block blob.
        _ => BlobType::Block,
    };
    let sequence_number = text(headers::X_MS_BLOB_SEQUENCE_NUMBER).and_then(|text| text.parse().ok());
    let blocks = text(headers::X_MS_BLOB_COMMITTED_BLOCK_COUNT).and_then(|text| text.parse().ok());
    let blocks = blocks.map(|blocks: u32| blocks.min(BLOCKS));
    // Pages are copied as pages, or not at all.
    if kind == BlobType::Page && asked.op == Op::CopyBlob && !length.is_multiple_of(PAGE) {
        return Err(contradicted("a page blob of a length that is none"));
    }
    let of = SourceType { kind, sequence_number: sequence_number.unwrap_or(0), blocks };
    // Only Copy Blob goes on without its client. A weak ETag is no promise about bytes.
    let again = matches!(asked.op, Op::CopyBlob | Op::CopyFile).then(|| ForeignAddress {
        url: asked.url.text().to_owned(),
        version: asked.version.as_str().to_owned(),
        etag: text(headers::ETAG).filter(|etag| !etag.starts_with("W/")),
    });
    Ok(ForeignSource { headers, metadata, body: paced(body, length), length, of, again })
}

fn text(parts: &Parts, name: &str) -> Option<String> {
    parts.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// The source says one thing and does another.
fn contradicted(cause: &'static str) -> Failure {
    Failure::new(ErrorCode::CannotVerifyCopySource).with_status(400).cause(cause)
}

/// The bytes that come are those that were asked for, or as many of them as there are.
fn check_range(told: Option<&str>, asked: ByteRange, length: u64) -> Result<(), Failure> {
    let (sent, total) =
        told.and_then(content_range).ok_or_else(|| contradicted("the source does not tell the range"))?;
    let meant = match total {
        Some(total) => asked.resolve(total).ok(),
        None => asked.end.and_then(|last| Some(asked.start..last.checked_add(1)?)),
    };
    if meant.as_ref() != Some(&sent) {
        return Err(contradicted("the source sends another range"));
    }
    match sent.end - sent.start == length {
        true => Ok(()),
        false => Err(contradicted("the range of the source is of another length")),
    }
}

/// `bytes FIRST-LAST/TOTAL`, or `*` for a total that is not known. The range is not empty.
fn content_range(text: &str) -> Option<(Range<u64>, Option<u64>)> {
    let (range, total) = text.trim().strip_prefix("bytes ")?.trim().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.parse::<u64>().ok(),
        false => None,
    };
    let (first, last) = (number(first)?, number(last)?);
    let total = match total {
        "*" => None,
        total => Some(number(total)?),
    };
    (first <= last).then_some((first..last.checked_add(1)?, total))
}

/// What the read was told, as the operation tells it.
fn told(status: u16, asked: &SourceRequest) -> Failure {
    let source = asked.op.row().policy.source;
    let by_match = source == Source::Fetched && asked.has(http::header::IF_MATCH);
    match status {
        304 | 412 if source == Source::Looked => ErrorCode::SourceConditionNotMet.into(),
        412 if by_match => ErrorCode::SourceConditionNotMet.into(),
        304 | 400..=499 => Failure::new(ErrorCode::CannotVerifyCopySource).with_status(status),
        _ => Failure::new(ErrorCode::CannotVerifyCopySource)
            .with_status(400)
            .cause(format!("the source answers {status}")),
    }
}

fn metadata(headers: &HeaderMap) -> Metadata {
    let pairs = headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(headers::X_MS_META_PREFIX)?;
        Some((name.to_owned(), value.to_str().ok()?.to_owned()))
    });
    Metadata::from_pairs(pairs).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_the_one_that_was_asked_for() {
        let asked = |first, last| ByteRange { start: first, end: last };
        for (told, range, length) in [
            ("bytes 1-2/5", asked(1, Some(2)), 2),
            ("bytes 1-4/5", asked(1, Some(9)), 4),
            ("bytes 1-4/5", asked(1, None), 4),
            ("bytes 1-2/*", asked(1, Some(2)), 2),
        ] {
            check_range(Some(told), range, length).expect(told);
        }
        for (told, range, length) in [
            ("bytes 0-1/5", asked(1, Some(2)), 2),
            ("bytes 1-2/5", asked(1, Some(3)), 2),
            ("bytes 1-3/5", asked(1, Some(2)), 3),
            ("bytes 1-2/5", asked(1, Some(2)), 3),
            ("bytes 1-2/5", asked(1, None), 2),
            ("bytes 1-2/*", asked(1, None), 2),
            ("bytes 1-2/2", asked(1, Some(2)), 2),
            ("bytes 2-1/5", asked(2, Some(1)), 0),
            ("bytes +1-2/5", asked(1, Some(2)), 2),
            ("bytes 0-18446744073709551615/*", asked(0, Some(u64::MAX)), 0),
            ("items 1-2/5", asked(1, Some(2)), 2),
            ("bytes 1-2", asked(1, Some(2)), 2),
            ("", asked(1, Some(2)), 2),
        ] {
            assert!(check_range(Some(told), range, length).is_err(), "{told}");
        }
        assert!(check_range(None, asked(1, Some(2)), 2).is_err());
    }
}
