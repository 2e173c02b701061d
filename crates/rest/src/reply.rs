//! What an operation answers, before the headers that every answer has are added.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use lazuli_model::admission::table::entity_etag;
use lazuli_model::blob::ContentMd5;
use lazuli_model::error::Failure;
use lazuli_model::operation::Row;
use lazuli_model::time::Timestamp;
use lazuli_service::blob::Stamped;
use lazuli_service::budget::Share;
use lazuli_service::download::Download;

use crate::headers::{self, name};
use crate::response_body::ResponseBody;

pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: ResponseBody,
    /// Set on refusals: status, code and body are made from it when the answer leaves.
    pub(crate) refusal: Option<Box<Failure>>,
    /// As they are to be spelled: the header map has no case.
    pub(crate) metadata_names: Vec<String>,
    /// Memory that was set aside for the body.
    pub(crate) share: Option<Share>,
    tells_etag: bool,
    /// The code of an answer of a website that is a page of its own.
    pub(crate) web_error: Option<&'static str>,
}

impl Reply {
    /// The answer of a row to a request that was carried out: its first status, and what else the row says.
    pub fn of(row: &Row) -> Self {
        Self { tells_etag: row.answer.etag, ..Self::new(row.answer.first_status()) }
    }

    /// The row's other status: that of a range, of a queue that was there, of an entity that is not echoed.
    #[must_use]
    pub fn otherwise(mut self, row: &Row) -> Self {
        self.status = row.answer.other_status();
        self
    }

    fn new(status: u16) -> Self {
        Self {
            status,
            headers: HeaderMap::with_capacity(24),
            body: ResponseBody::Empty,
            refusal: None,
            metadata_names: Vec::new(),
            share: None,
            tells_etag: false,
            web_error: None,
        }
    }

    /// A refusal that carries headers of its own, such as the Content-Range of a 416. Without any,
    /// an operation just returns the failure.
    pub fn refused(failure: Failure) -> Self {
        Self { status: failure.status(), refusal: Some(Box::new(failure)), ..Self::new(0) }
    }

    /// A refusal inside of an answer, which the operation writes itself.
    pub fn refused_part(status: u16) -> Self {
        Self::new(status)
    }

    #[must_use]
    pub fn xml(self, document: impl Into<Bytes>) -> Self {
        self.header(headers::CONTENT_TYPE, "application/xml").bytes(document.into())
    }

    /// The body was built within this share of the memory for answers.
    #[must_use]
    pub fn within(mut self, share: Option<Share>) -> Self {
        self.share = share;
        self
    }

    /// A value that no header can hold is left out.
    #[must_use]
    pub fn header(mut self, name: impl IntoName, value: impl IntoHeader) -> Self {
        if let Some(value) = value.into_header() {
            self.headers.insert(name.into_name(), value);
        }
        self
    }

    #[must_use]
    pub fn maybe<V: IntoHeader>(self, name: impl IntoName, value: Option<V>) -> Self {
        match value {
            Some(value) => self.header(name, value),
            None => self,
        }
    }

    /// ETag and Last-Modified, which always go together, if the row tells them; and the version that a write has made.
    #[must_use]
    pub fn stamped(self, Stamped { etag, last_modified, version }: Stamped) -> Self {
        if !self.tells_etag {
            return self;
        }
        self.header(name::ETAG, etag.quoted())
            .header(name::LAST_MODIFIED, last_modified.rfc1123())
            .version(version)
    }

    /// The id of a version, as listings write it: seven digits, zeros too (recorded since June 2021; before, headers had none).
    #[must_use]
    pub fn version(self, version: Option<Timestamp>) -> Self {
        self.maybe(name::X_MS_VERSION_ID, version.map(Timestamp::iso7))
    }

    /// The ETag of an entity, which has no Last-Modified, if the row tells it.
    #[must_use]
    pub fn stamped_entity(self, timestamp: Timestamp) -> Self {
        if self.tells_etag { self.header(name::ETAG, entity_etag(timestamp)) } else { self }
    }

    #[must_use]
    pub fn md5(self, name: impl IntoName, digest: Option<[u8; 16]>) -> Self {
        self.maybe(name, digest.and_then(|digest| Base64(&digest).into_header()))
    }

    /// The MD5 that a blob was given, which need not be one.
    #[must_use]
    pub fn content_md5(self, name: impl IntoName, md5: &ContentMd5) -> Self {
        match md5 {
            ContentMd5::None => self,
            ContentMd5::Digest(digest) => self.md5(name, Some(*digest)),
            ContentMd5::Given(bytes) => self.header(name, BASE64_STANDARD.encode(bytes)),
        }
    }

    /// The eight bytes of a CRC-64 go least significant first.
    #[must_use]
    pub fn crc64(self, name: impl IntoName, crc64: Option<u64>) -> Self {
        self.maybe(name, crc64.and_then(|crc64| Base64(&crc64.to_le_bytes()).into_header()))
    }

    #[must_use]
    pub fn metadata<N: AsRef<str>, V: AsRef<str>>(mut self, pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        for (name, value) in pairs {
            let full = format!("{}{}", headers::X_MS_META_PREFIX, name.as_ref());
            let name_and_value = (HeaderName::from_bytes(full.as_bytes()), value.as_ref().into_header());
            if let (Ok(header), Some(value)) = name_and_value {
                self.headers.append(header, value);
                self.metadata_names.push(name.as_ref().to_owned());
            }
        }
        self
    }

    #[must_use]
    pub fn bytes(mut self, body: Bytes) -> Self {
        self.body = ResponseBody::full(body);
        self
    }

    /// A body that is made while it is sent.
    #[must_use]
    pub fn stream(
        mut self,
        stream: impl futures_util::Stream<Item = lazuli_service::Answer<Bytes>> + Send + 'static,
    ) -> Self {
        self.body = ResponseBody::Open(Some(Box::pin(stream)));
        self
    }

    /// The same in a structured message.
    #[must_use]
    pub fn structured(mut self, download: Download) -> Self {
        self.body = ResponseBody::structured(download);
        self
    }

    #[must_use]
    pub fn download(mut self, download: Download) -> Self {
        self.body = ResponseBody::download(download);
        self
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        Self::refused(failure)
    }
}

/// What names a header.
pub trait IntoName {
    fn into_name(self) -> HeaderName;
}

impl IntoName for &'static str {
    fn into_name(self) -> HeaderName {
        HeaderName::from_static(self)
    }
}

impl IntoName for HeaderName {
    fn into_name(self) -> HeaderName {
        self
    }
}

/// Up to 16 bytes, as headers show them.
struct Base64<'a>(&'a [u8]);

impl IntoHeader for Base64<'_> {
    fn into_header(self) -> Option<HeaderValue> {
        let mut text = [0; 24];
        let length = BASE64_STANDARD.encode_slice(self.0, &mut text).ok()?;
        HeaderValue::from_bytes(text.get(..length)?).ok()
    }
}

/// What can stand in a header.
pub trait IntoHeader {
    fn into_header(self) -> Option<HeaderValue>;
}

impl IntoHeader for &str {
    fn into_header(self) -> Option<HeaderValue> {
        HeaderValue::from_bytes(self.as_bytes()).ok()
    }
}

impl IntoHeader for String {
    fn into_header(self) -> Option<HeaderValue> {
        HeaderValue::from_maybe_shared(Bytes::from(self)).ok()
    }
}

impl IntoHeader for &String {
    fn into_header(self) -> Option<HeaderValue> {
        self.as_str().into_header()
    }
}

impl IntoHeader for HeaderValue {
    fn into_header(self) -> Option<HeaderValue> {
        Some(self)
    }
}

impl IntoHeader for bool {
    fn into_header(self) -> Option<HeaderValue> {
        Some(HeaderValue::from_static(if self { "true" } else { "false" }))
    }
}

impl IntoHeader for u64 {
    fn into_header(self) -> Option<HeaderValue> {
        Some(HeaderValue::from(self))
    }
}

impl IntoHeader for u32 {
    fn into_header(self) -> Option<HeaderValue> {
        Some(HeaderValue::from(self))
    }
}

impl IntoHeader for lazuli_model::admission::LeaseId {
    fn into_header(self) -> Option<HeaderValue> {
        self.to_string().into_header()
    }
}

#[cfg(test)]
mod tests;
