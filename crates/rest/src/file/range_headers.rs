//! Which bytes of a file a write is about.

use std::ops::Range;

use lazuli_model::error::{ErrorCode, Failure};

use crate::blob::put_block_from_url::source_range;
use crate::decode;
use crate::head::Head;
use crate::headers::{self, spelled};

/// The most that one Put Range may carry: 4 MiB.
pub const WRITE_MAX: u64 = 4 << 20;

/// The range of Put Range: both ends, and exactly as many bytes as the body has, which `structured` says when the body is
/// more than the bytes of the file.
pub fn written(head: &Head, structured: Option<u64>) -> Result<Range<u64>, Failure> {
    let range = both_ends(head)?;
    let (name, length) = match structured {
        Some(length) => (headers::X_MS_STRUCTURED_CONTENT_LENGTH, length),
        None => {
            let length = head.content_length()?.ok_or(ErrorCode::MissingContentLengthHeader)?;
            (spelled(headers::CONTENT_LENGTH), length)
        }
    };
    if length > WRITE_MAX {
        return Err(Failure::new(ErrorCode::RequestBodyTooLarge).detail("MaxLimit", WRITE_MAX.to_string()));
    }
    match length == range.end - range.start {
        true => Ok(range),
        false => Err(Failure::invalid_header(name, &length.to_string())),
    }
}

/// The range of Put Range From URL: both ends, and no body.
pub fn written_from_url(head: &Head) -> Result<Range<u64>, Failure> {
    let range = cleared(head)?;
    match range.end - range.start <= WRITE_MAX {
        true => Ok(range),
        false => Err(Failure::new(ErrorCode::RequestBodyTooLarge).detail("MaxLimit", WRITE_MAX.to_string())),
    }
}

/// `x-ms-source-range`, which must name as many bytes as are to be written.
pub fn source(head: &Head, range: &Range<u64>) -> Result<Range<u64>, Failure> {
    const NAME: &str = headers::X_MS_SOURCE_RANGE;
    let text = head.required_header(NAME)?;
    let read = source_range(head)?.and_then(|range| Some(range.start..range.end?.checked_add(1)?));
    let of_length = |read: &Range<u64>| read.end.checked_sub(read.start) == Some(range.end - range.start);
    read.filter(of_length).ok_or_else(|| Failure::invalid_header(NAME, text))
}

/// The range that is cleared: both ends, however far apart, and no body.
pub fn cleared(head: &Head) -> Result<Range<u64>, Failure> {
    let range = both_ends(head)?;
    match head.content_length()? {
        Some(length) if length > 0 => {
            Err(Failure::invalid_header(spelled(headers::CONTENT_LENGTH), &length.to_string()))
        }
        _ => Ok(range),
    }
}

fn both_ends(head: &Head) -> Result<Range<u64>, Failure> {
    let (name, text) = match (head.header(headers::X_MS_RANGE), head.header(headers::RANGE)) {
        (Some(text), _) => (headers::X_MS_RANGE, text),
        (None, Some(text)) => (spelled(headers::RANGE), text),
        (None, None) => return Err(Failure::missing_header(spelled(headers::RANGE))),
    };
    let end = decode::range(head).and_then(|range| Some((range.start, range.end?.checked_add(1)?)));
    end.map(|(start, end)| start..end).ok_or_else(|| Failure::invalid_header(name, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::head;

    fn said(result: Result<Range<u64>, Failure>) -> String {
        match result {
            Ok(range) => format!("{range:?}"),
            Err(failure) => {
                let details: String = failure.details.iter().map(|(_, value)| format!(" {value}")).collect();
                format!("{}{details}", failure.code.name())
            }
        }
    }

    /// file.md section 3, Put Range.
    #[test]
    fn a_write_says_where_and_how_much() {
        for (range, length, expected) in [
            ("bytes=0-4", "5", "0..5"),
            ("bytes=7-7", "1", "7..8"),
            ("bytes=0-4194303", "4194304", "0..4194304"),
            ("bytes=0-4", "4", "InvalidHeaderValue Content-Length 4"),
            ("bytes=0-4194304", "4194305", "RequestBodyTooLarge 4194304"),
            ("bytes=0-", "5", "InvalidHeaderValue x-ms-range bytes=0-"),
            ("bytes=4-0", "5", "InvalidHeaderValue x-ms-range bytes=4-0"),
            ("0-4", "5", "InvalidHeaderValue x-ms-range 0-4"),
            (
                "bytes=0-18446744073709551615",
                "5",
                "InvalidHeaderValue x-ms-range bytes=0-18446744073709551615",
            ),
        ] {
            let sent = head(&[("x-ms-range", range), ("content-length", length)]);
            assert_eq!(said(written(&sent, None)), expected, "{range}");
        }
        assert_eq!(said(written(&head(&[("content-length", "5")]), None)), "MissingRequiredHeader Range");
        assert_eq!(said(written(&head(&[("range", "bytes=0-4")]), None)), "MissingContentLengthHeader");
        let standard = head(&[("range", "bytes=x"), ("content-length", "5")]);
        assert_eq!(said(written(&standard, None)), "InvalidHeaderValue Range bytes=x");
        let framed = head(&[("range", "bytes=0-4"), ("content-length", "44")]);
        assert_eq!(said(written(&framed, Some(5))), "0..5");
        let short = "InvalidHeaderValue x-ms-structured-content-length 4";
        assert_eq!(said(written(&framed, Some(4))), short);
    }

    #[test]
    fn what_is_cleared_has_no_limit_and_no_body() {
        let far = head(&[("x-ms-range", "bytes=512-1099511627775"), ("content-length", "0")]);
        assert_eq!(said(cleared(&far)), "512..1099511627776");
        let body = head(&[("x-ms-range", "bytes=0-511"), ("content-length", "512")]);
        assert_eq!(said(cleared(&body)), "InvalidHeaderValue Content-Length 512");
    }
}
