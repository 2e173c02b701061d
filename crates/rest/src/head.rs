//! A request without its body: what authentication, routing and decoding look at.

use std::net::IpAddr;

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Method, Service};
use lazuli_model::version::ApiVersion;
use uuid::Uuid;

use crate::headers;
use crate::query::Query;
use crate::request_headers::RequestHeaders;
use crate::target::Target;

#[derive(Clone, Debug)]
pub struct Head {
    pub method: Method,
    /// The path exactly as sent: signatures are made over it.
    pub raw_path: String,
    pub query: Query,
    pub headers: RequestHeaders,
    pub target: Target,
    pub peer: Option<IpAddr>,
    /// The request came over TLS.
    pub secure: bool,
    pub request_id: Uuid,
    /// The version that rules the request: header, else `api-version`, else `sv`, else the default.
    pub version: ApiVersion,
    /// The `x-ms-version` header as sent, echoed byte for byte.
    pub version_sent: Option<String>,
    /// The names of metadata headers as they were spelled, where that is known: the header map has no case.
    pub metadata_names: Vec<String>,
}

impl Head {
    /// A header's value as text, trimmed; an empty one counts as absent.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.raw_header(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// A header's value as sent, also when empty. One that is no text never gets here: [`Head::check_headers`].
    pub fn raw_header(&self, name: &str) -> Option<&str> {
        debug_assert!(headers::is_read(name), "{name} is read and not checked");
        self.headers.find(name).and_then(|value| value.to_str().ok())
    }

    /// Asked of every request, and of every part of a batch, before anything else is.
    pub fn check_headers(&self) -> Result<(), Failure> {
        self.headers.check().map_err(|failure| match self.target.service {
            // Tables have one word for whatever is wrong with a header.
            Service::Table => Failure { code: ErrorCode::InvalidInput, ..failure },
            _ => failure,
        })
    }

    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.given(name)
    }

    pub fn required_header(&self, name: &'static str) -> Result<&str, Failure> {
        self.header(name).ok_or_else(|| Failure::missing_header(name))
    }

    /// A header that must be a number, when sent.
    pub fn number<T: std::str::FromStr>(&self, name: &'static str) -> Result<Option<T>, Failure> {
        match self.header(name) {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| Failure::invalid_header(name, text)),
        }
    }

    /// A header that must be `true` or `false`, when sent.
    pub fn flag(&self, name: &'static str) -> Result<bool, Failure> {
        match self.header(name) {
            None => Ok(false),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(text) => Err(Failure::invalid_header(name, text)),
        }
    }

    pub fn content_length(&self) -> Result<Option<u64>, Failure> {
        match self.raw_header("content-length") {
            None => Ok(None),
            Some(text) => text.trim().parse().map(Some).map_err(|_| ErrorCode::InvalidHeaderValue.into()),
        }
    }
}
