//! The headers that a file keeps for its readers, and its length.

use lazuli_model::blob::{ContentHeaders, ContentMd5};
use lazuli_model::error::Failure;
use lazuli_model::version::Feature;

use crate::decode;
use crate::head::Head;
use crate::headers;

/// The largest file: 4 TiB, and in the older versions 1 TiB.
const LENGTH_MAX: u64 = 4 << 40;
const LENGTH_MAX_BEFORE: u64 = 1 << 40;

/// What a new file is said to hold.
pub const DEFAULT_TYPE: &str = "application/octet-stream";

/// `x-ms-content-*` and `x-ms-cache-control`; what is not sent is not kept.
pub fn content_headers(head: &Head) -> Result<ContentHeaders, Failure> {
    let text = |name| head.header(name).map(str::to_owned);
    Ok(ContentHeaders {
        content_type: text(headers::X_MS_CONTENT_TYPE),
        content_encoding: text(headers::X_MS_CONTENT_ENCODING),
        content_language: text(headers::X_MS_CONTENT_LANGUAGE),
        content_disposition: text(headers::X_MS_CONTENT_DISPOSITION),
        cache_control: text(headers::X_MS_CACHE_CONTROL),
        content_md5: decode::md5(head, headers::X_MS_CONTENT_MD5)?
            .map_or(ContentMd5::None, ContentMd5::Digest),
    })
}

/// Whether Set File Properties replaces all of them: one that is sent clears those that are not. A new length alone leaves
/// them as they are.
pub fn replaces_content_headers(head: &Head) -> bool {
    [
        headers::X_MS_CACHE_CONTROL,
        headers::X_MS_CONTENT_TYPE,
        headers::X_MS_CONTENT_MD5,
        headers::X_MS_CONTENT_ENCODING,
        headers::X_MS_CONTENT_LANGUAGE,
        headers::X_MS_CONTENT_DISPOSITION,
    ]
    .iter()
    .any(|name| head.header(name).is_some())
}

/// `x-ms-content-length`, if it was sent.
pub fn length(head: &Head) -> Result<Option<u64>, Failure> {
    const NAME: &str = headers::X_MS_CONTENT_LENGTH;
    let Some(text) = head.header(NAME) else { return Ok(None) };
    let most = if head.version.has(Feature::Files4TiB) { LENGTH_MAX } else { LENGTH_MAX_BEFORE };
    let length = text.parse::<u64>().ok().filter(|length| *length <= most);
    length.map(Some).ok_or_else(|| Failure::invalid_header(NAME, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::head;

    #[test]
    fn what_is_sent_is_kept_and_replaces_the_rest() {
        let sent = head(&[
            ("x-ms-content-type", "text/plain"),
            ("x-ms-content-disposition", "inline"),
            ("x-ms-content-md5", "AAAAAAAAAAAAAAAAAAAAAA=="),
            ("x-ms-blob-content-language", "of blobs"),
        ]);
        let expected = ContentHeaders {
            content_type: Some("text/plain".into()),
            content_disposition: Some("inline".into()),
            content_md5: ContentMd5::Digest([0; 16]),
            ..ContentHeaders::default()
        };
        assert_eq!(content_headers(&sent).unwrap(), expected);
        assert!(replaces_content_headers(&sent));
        assert!(!replaces_content_headers(&head(&[("x-ms-content-length", "5")])));
        let short = content_headers(&head(&[("x-ms-content-md5", "AAAA")]));
        assert_eq!(short.unwrap_err().code.name(), "InvalidMd5");
    }

    /// 4 TiB were recorded as the length of a file.
    #[test]
    fn a_file_has_a_largest_length() {
        let of = |text| length(&head(&[("x-ms-content-length", text)]));
        assert_eq!(of("4398046511104").ok(), Some(Some(4 << 40)));
        for text in ["4398046511105", "-1", "many", "1.5"] {
            assert_eq!(of(text).unwrap_err().code.name(), "InvalidHeaderValue", "{text}");
        }
        assert_eq!(length(&head(&[])).ok(), Some(None));
    }
}
