//! What the operations on pages read from their headers.

use std::ops::Range;

use lazuli_model::error::Failure;

use crate::call::Call;
use crate::decode;
use crate::head::Head;
use crate::headers;

const PAGE: u64 = 512;
/// The largest page blob: 8 TiB.
const LENGTH_MAX: u64 = 8 << 40;
/// The largest sequence number.
const SEQUENCE_NUMBER_MAX: u64 = i64::MAX as u64;

/// `x-ms-blob-content-length`: a number of whole pages.
pub fn length(head: &Head) -> Result<Option<u64>, Failure> {
    let name = headers::X_MS_BLOB_CONTENT_LENGTH;
    let Some(text) = head.header(name) else { return Ok(None) };
    let length =
        text.parse::<u64>().ok().filter(|length| length.is_multiple_of(PAGE) && *length <= LENGTH_MAX);
    length.map(Some).ok_or_else(|| Failure::invalid_header(name, text))
}

/// `x-ms-blob-sequence-number`
pub fn sequence_number(head: &Head) -> Result<Option<u64>, Failure> {
    let name = headers::X_MS_BLOB_SEQUENCE_NUMBER;
    let Some(text) = head.header(name) else { return Ok(None) };
    let number = text.parse::<u64>().ok().filter(|number| *number <= SEQUENCE_NUMBER_MAX);
    number.map(Some).ok_or_else(|| Failure::invalid_header(name, text))
}

/// The range of whole pages that a write is about.
pub fn range(head: &Head) -> Result<Range<u64>, Failure> {
    let text = head.header(headers::X_MS_RANGE).or_else(|| head.header(headers::RANGE));
    let text = text.ok_or_else(|| Failure::missing_header("Range"))?;
    let refused = || Failure::invalid_header("Range", text);
    let range = decode::range(head).ok_or_else(refused)?;
    let end = range.end.and_then(|last| last.checked_add(1)).ok_or_else(refused)?;
    let is_whole = range.start.is_multiple_of(PAGE) && end.is_multiple_of(PAGE) && range.start < end;
    if is_whole { Ok(range.start..end) } else { Err(refused()) }
}

/// Of an operation that has none.
pub fn refuse_body(call: &Call) -> Result<(), Failure> {
    match call.head.content_length()? {
        Some(length) if length > 0 => {
            Err(Failure::invalid_header(headers::CONTENT_LENGTH, &length.to_string()))
        }
        _ => Ok(()),
    }
}
