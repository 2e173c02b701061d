//! What a source elsewhere is asked.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::Empty;
use lazuli_model::error::Failure;
use lazuli_model::operation::{Op, Source};
use lazuli_model::range::ByteRange;
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::ForeignAddress;

use crate::blob::put_block_from_url::source_range;
use crate::call::Call;
use crate::copy::address::SourceUrl;
use crate::copy::takes_source_key;
use crate::headers;

/// Conditions on the source become conditions of its read.
const CONDITIONS: [(&str, HeaderName); 5] = [
    (headers::X_MS_SOURCE_IF_MATCH, http::header::IF_MATCH),
    (headers::X_MS_SOURCE_IF_NONE_MATCH, http::header::IF_NONE_MATCH),
    (headers::X_MS_SOURCE_IF_MODIFIED_SINCE, http::header::IF_MODIFIED_SINCE),
    (headers::X_MS_SOURCE_IF_UNMODIFIED_SINCE, http::header::IF_UNMODIFIED_SINCE),
    (headers::X_MS_SOURCE_IF_TAGS, headers::name::X_MS_IF_TAGS),
];

/// The key that the source is encrypted with becomes the key of its read.
const KEYS: [(&str, HeaderName); 3] = [
    (headers::X_MS_SOURCE_ENCRYPTION_KEY, headers::name::X_MS_ENCRYPTION_KEY),
    (headers::X_MS_SOURCE_ENCRYPTION_KEY_SHA256, headers::name::X_MS_ENCRYPTION_KEY_SHA256),
    (headers::X_MS_SOURCE_ENCRYPTION_ALGORITHM, headers::name::X_MS_ENCRYPTION_ALGORITHM),
];

/// The read of a source, for an operation.
pub(in crate::copy) struct SourceRequest {
    pub url: SourceUrl,
    pub op: Op,
    pub version: ApiVersion,
    /// Of which not all bytes are wanted.
    pub range: Option<ByteRange>,
    /// Conditions and credentials.
    pub headers: HeaderMap,
}

/// Whether the operation may want a part of its source.
fn takes_range(op: Op) -> bool {
    matches!(op, Op::PutBlockFromUrl | Op::PutPageFromUrl | Op::AppendBlockFromUrl | Op::PutRangeFromUrl)
}

impl SourceRequest {
    pub fn of(call: &Call, url: SourceUrl) -> Result<Self, Failure> {
        let given = &call.head.headers;
        let mut headers = HeaderMap::new();
        for (name, sent) in CONDITIONS {
            if let Some(value) = given.find(name) {
                headers.insert(sent, value.clone());
            }
        }
        if call.row.policy.source != Source::Looked
            && let Some(token) = given.find(headers::X_MS_COPY_SOURCE_AUTHORIZATION)
        {
            headers.insert(http::header::AUTHORIZATION, token.clone());
        }
        for (name, sent) in KEYS {
            let Some(value) = given.find(name) else { continue };
            if !takes_source_key(call.row.op) {
                continue;
            }
            // A key is sent to a source over TLS only.
            if !url.is_secure() {
                return Err(Failure::invalid_header(name, ""));
            }
            headers.insert(sent, value.clone());
        }
        let range = match takes_range(call.row.op) {
            true => source_range(&call.head)?,
            false => None,
        };
        Ok(Self { url, op: call.row.op, version: call.head.version, range, headers })
    }

    /// The source of a copy that is begun again, as long as it has not changed.
    pub fn again(address: &ForeignAddress) -> Option<Self> {
        let url = SourceUrl::absolute(&address.url)?;
        let version = ApiVersion::parse(&address.version)?;
        let mut headers = HeaderMap::new();
        if let Some(etag) = &address.etag {
            headers.insert(http::header::IF_MATCH, HeaderValue::try_from(etag).ok()?);
        }
        Some(Self { url, op: Op::CopyBlob, version, range: None, headers })
    }

    pub fn has(&self, name: HeaderName) -> bool {
        self.headers.contains_key(name)
    }

    pub fn request(&self) -> Result<Request<Empty<Bytes>>, Failure> {
        let bad = || Failure::invalid_header(headers::X_MS_COPY_SOURCE, self.url.text());
        let path = self.url.uri().path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let mut request = Request::get(path)
            .header(http::header::HOST, self.url.host())
            .header(headers::X_MS_VERSION, self.version.as_str());
        if let Some(ByteRange { start, end }) = self.range {
            let end = end.map_or(String::new(), |end| end.to_string());
            let value = HeaderValue::try_from(format!("bytes={start}-{end}")).map_err(|_| bad())?;
            request = request.header(http::header::RANGE, value);
        }
        let mut request = request.body(Empty::new()).map_err(|_| bad())?;
        request.headers_mut().extend(self.headers.clone());
        Ok(request)
    }
}
