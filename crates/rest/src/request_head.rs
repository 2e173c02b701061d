//! How a request is read up to its address and version.

use std::net::IpAddr;

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Method, Service};
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;
use uuid::Uuid;

use crate::head::Head;
use crate::header_case;
use crate::headers;
use crate::query::Query;
use crate::request_headers::RequestHeaders;
use crate::target::Target;

/// What is wrong with a request's head in the eyes of HTTP itself. The listener, which sees the bytes, puts it among the
/// request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    NoHost,
    /// More than one.
    Hosts,
    /// A line that ends in a line feed alone.
    LineEnds,
}

impl Malformed {
    pub(crate) fn failure(self) -> Failure {
        match self {
            Self::NoHost => Failure::missing_header(headers::HOST),
            Self::Hosts => Failure::invalid_header(headers::HOST, "more than one"),
            Self::LineEnds => Failure::new(ErrorCode::InvalidInput).cause("a line ends in a bare line feed"),
        }
    }
}

/// Where and when a request came in.
pub(crate) struct Arrival {
    pub listener: Service,
    pub peer: Option<IpAddr>,
    pub secure: bool,
    pub now: Timestamp,
}

/// Reads a request up to its address and version.
pub(crate) fn read(
    arrival: &Arrival,
    parts: http::request::Parts,
    sent: RequestHeaders,
    request_id: Uuid,
) -> Result<Box<Head>, Failure> {
    if let Some(malformed) = parts.extensions.get::<Malformed>() {
        return Err(malformed.failure());
    }
    let method = Method::parse(parts.method.as_str()).ok_or(ErrorCode::UnsupportedHttpVerb)?;
    let query = Query::parse(parts.uri.query().unwrap_or_default()).map_err(|_| ErrorCode::InvalidUri)?;
    let text = |name: &str| sent.find(name).and_then(|value| value.to_str().ok());
    let host =
        text(headers::HOST).or(parts.uri.authority().map(|authority| authority.as_str())).unwrap_or_default();
    let raw_path = parts.uri.path().to_owned();
    let target = Target::parse(arrival.listener, host, &raw_path, &query)?;
    let version_sent = text(headers::X_MS_VERSION).map(str::to_owned);
    let version = match &version_sent {
        Some(sent) => ApiVersion::parse(sent.trim())
            .ok_or_else(|| Failure::invalid_header(headers::X_MS_VERSION, sent))?,
        None => version_of_query(&query)?.unwrap_or(UNVERSIONED),
    };
    let metadata_names = header_case::metadata_names(&sent, parts.extensions);
    Ok(Box::new(Head {
        method,
        raw_path,
        query,
        target,
        peer: arrival.peer,
        secure: arrival.secure,
        request_id,
        version,
        version_sent,
        metadata_names,
        headers: sent,
    }))
}

/// What rules a request that names no version.
const UNVERSIONED: ApiVersion = ApiVersion::V2009_09_19;

/// Where a version is looked for when no header names one.
const VERSION_PARAMETERS: [&str; 2] = ["api-version", "sv"];

/// A version was asked for, by header or parameter.
pub(crate) fn names_version(head: &Head) -> bool {
    head.version_sent.is_some() || VERSION_PARAMETERS.iter().any(|name| head.query(name).is_some())
}

fn version_of_query(query: &Query) -> Result<Option<ApiVersion>, Failure> {
    for name in VERSION_PARAMETERS {
        if let Some(text) = query.given(name) {
            return ApiVersion::parse(text).map(Some).ok_or_else(|| Failure::invalid_query(name, text, ""));
        }
    }
    Ok(None)
}
