//! What surrounds every answer: how a request is read up to its address and version, and the headers that all
//! answers have.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::ext::ReasonPhrase;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Method, Resource, Row, Service};
use lazuli_model::time::Timestamp;
use lazuli_model::version::{ApiVersion, Feature};
use parking_lot::Mutex;
use uuid::Uuid;

use crate::auth::{self, Auth};
use crate::error::{self, Asked};
use crate::head::Head;
use crate::header_case;
use crate::headers::{self, name};
use crate::later;
use crate::query::Query;
use crate::reply::Reply;
use crate::request_headers::RequestHeaders;
use crate::response_body::ResponseBody;
use crate::table::Level;
use crate::target::Target;

/// Longer client request ids are not echoed.
const CLIENT_REQUEST_ID_LIMIT: usize = 1024;

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
    fn failure(self) -> Failure {
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

/// What the answer must know of its request after the request itself has been handed on.
pub(crate) struct Envelope {
    service: Service,
    resource: Resource,
    is_head: bool,
    request_id: Uuid,
    now: Timestamp,
    /// The version that rules; the newest where none could be read.
    version: ApiVersion,
    /// What `x-ms-version` of the answer says; nothing when the request failed before a version took effect.
    version_shown: Option<HeaderValue>,
    client_request_id: Option<HeaderValue>,
    level: Level,
    /// A version was asked for, by header or parameter.
    pub names_version: bool,
    pub content_length: Option<u64>,
    pub row: Option<&'static Row>,
}

impl Envelope {
    /// Reads a request up to its address and version.
    pub fn open(arrival: &Arrival, parts: http::request::Parts) -> (Self, Result<Box<Head>, Failure>) {
        let (parts, sent) = split(parts);
        let client_request_id = sent.find(headers::X_MS_CLIENT_REQUEST_ID).cloned();
        let content_length = sent
            .find(headers::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| text.trim().parse().ok());
        let mut envelope = Self {
            service: arrival.listener,
            resource: Resource::Account,
            is_head: parts.method == http::Method::HEAD,
            request_id: lazuli_service::fresh_uuid(),
            now: arrival.now,
            version: ApiVersion::NEWEST,
            version_shown: None,
            client_request_id,
            level: Level::Minimal,
            names_version: true,
            content_length,
            row: None,
        };
        let head = read_head(arrival, parts, sent, envelope.request_id);
        if let Ok(head) = &head {
            envelope.service = head.target.service;
            envelope.resource = spoken_of(head);
            if envelope.service == Service::Table {
                envelope.level = Level::of(head).unwrap_or(Level::Minimal);
            }
            let by_query = VERSION_PARAMETERS.iter().any(|name| head.query(name).is_some());
            envelope.names_version = head.version_sent.is_some() || by_query;
            envelope.choose_version(head.version);
            if let Some(sent) = &head.version_sent {
                envelope.version_shown = HeaderValue::from_str(sent).ok();
            }
        }
        (envelope, head)
    }

    pub fn choose_version(&mut self, version: ApiVersion) {
        self.version = version;
        self.version_shown = HeaderValue::from_str(version.as_str()).ok();
    }

    /// The answer with everything on it.
    pub fn seal(&self, mut reply: Reply, date: &HttpDate, auth: &Auth) -> Response<ResponseBody> {
        let refusal = reply.refusal.take();
        let mut reason = None;
        if let Some(failure) = &refusal {
            self.log(failure);
            let asked = Asked {
                service: self.service,
                resource: self.resource,
                is_head: self.is_head,
                version: self.version,
                level: self.level,
                row: self.row,
                request_id: self.request_id,
                now: self.now,
            };
            reply = error::render(reply, failure, &asked);
            if auth::wants_challenge(failure) {
                reply = reply.header(headers::WWW_AUTHENTICATE, auth.challenge());
            }
            // The Table service sends what belongs to the status (recorded), the others the text of the error.
            reason = if self.service == Service::Table { None } else { reason_phrase(failure) };
        }
        let Reply { status, mut headers, body, metadata_names, .. } = reply;
        if !self.version.has(Feature::QuotedEtags) {
            unquote_etag(&mut headers);
        }
        later::take_away(&mut headers, self.version);
        let mut put = |name: HeaderName, value: HeaderValue| headers.insert(name, value);
        put(name::SERVER, HeaderValue::from_static(server(self.service)));
        put(name::DATE, date.at(self.now));
        put(name::X_MS_REQUEST_ID, request_id(self.request_id));
        if let Some(version) = &self.version_shown
            && !refusal.as_deref().is_some_and(auth::hides_version)
        {
            put(name::X_MS_VERSION, version.clone());
        }
        if let Some(id) = self.echoed_client_request_id() {
            put(name::X_MS_CLIENT_REQUEST_ID, id.clone());
        }
        // Refusals of HEAD say nothing about a length; other answers do, empty ones too if their row says so.
        let says_nothing = match &refusal {
            Some(_) => self.is_head,
            None => self.row.is_some_and(|row| !row.answer.says_empty),
        };
        if !says_nothing && !headers.contains_key(name::CONTENT_LENGTH) {
            let length = http_body::Body::size_hint(&body).exact().unwrap_or(0);
            headers.insert(name::CONTENT_LENGTH, length.into());
        }
        let mut response = Response::new(if self.is_head { ResponseBody::Empty } else { body });
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = headers;
        if let Some(spelling) = header_case::spelling(&metadata_names) {
            *response.extensions_mut() = spelling;
        }
        if let Some(reason) = reason {
            response.extensions_mut().insert(reason);
        }
        response
    }

    fn echoed_client_request_id(&self) -> Option<&HeaderValue> {
        let id = self.client_request_id.as_ref()?;
        let is_visible = id.as_bytes().iter().all(|byte| (b' '..=b'~').contains(byte));
        let echoes = self.version.has(Feature::ClientRequestIdEcho);
        (echoes && is_visible && id.len() <= CLIENT_REQUEST_ID_LIMIT).then_some(id)
    }

    /// Refusals are the client's business, failures ours.
    fn log(&self, failure: &Failure) {
        let (request_id, operation) = (self.request_id, self.operation());
        if failure.status() >= 500 && failure.code != ErrorCode::NotImplemented {
            tracing::error!(%request_id, operation, %failure, "request failed");
        } else {
            tracing::debug!(%request_id, operation, %failure, "request refused");
        }
    }

    /// The name of the operation's row, or a word for a request that never found one.
    pub fn operation(&self) -> &'static str {
        self.row.map_or("Unrouted", Row::name)
    }

    /// Surrounds what is done for the request, so that every line written meanwhile names it. On at level debug, with
    /// a target of its own: `LAZULI_LOG=info,request=debug`.
    pub fn span(&self) -> tracing::Span {
        tracing::debug_span!(
            target: "request",
            "request",
            request_id = %self.request_id,
            operation = tracing::field::Empty,
        )
    }
}

/// A table's policies are no data of it, wherever they are asked for: they are spoken of as the account's settings
/// are, in XML.
fn spoken_of(head: &Head) -> Resource {
    let of_table = head.target.service == Service::Table && head.query("comp").is_some();
    if of_table { Resource::Account } else { head.target.resource }
}

fn split(mut parts: http::request::Parts) -> (http::request::Parts, RequestHeaders) {
    let sent = std::mem::take(&mut parts.headers).into();
    (parts, sent)
}

fn read_head(
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

fn version_of_query(query: &Query) -> Result<Option<ApiVersion>, Failure> {
    for name in VERSION_PARAMETERS {
        if let Some(text) = query.given(name) {
            return ApiVersion::parse(text).map(Some).ok_or_else(|| Failure::invalid_query(name, text, ""));
        }
    }
    Ok(None)
}

fn server(service: Service) -> &'static str {
    match service {
        Service::Blob | Service::Dfs => "Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0",
        Service::Queue => "Windows-Azure-Queue/1.0 Microsoft-HTTPAPI/2.0",
        Service::Table => "Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0",
        Service::File => "Windows-Azure-File/1.0 Microsoft-HTTPAPI/2.0",
    }
}

fn request_id(id: Uuid) -> HeaderValue {
    let mut buffer = Uuid::encode_buffer();
    let text = id.as_hyphenated().encode_lower(&mut buffer);
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("00000000-0000-0000-0000-000000000000"))
}

/// The Date header, printed once a second.
pub(crate) struct HttpDate(Mutex<(Timestamp, HeaderValue)>);

impl Default for HttpDate {
    fn default() -> Self {
        Self(Mutex::new((Timestamp(u64::MAX), HeaderValue::from_static(""))))
    }
}

impl HttpDate {
    fn at(&self, now: Timestamp) -> HeaderValue {
        let second = now.whole_seconds();
        let mut printed = self.0.lock();
        if printed.0 != second
            && let Ok(value) = HeaderValue::from_str(&second.rfc1123())
        {
            *printed = (second, value);
        }
        printed.1.clone()
    }
}

/// Status lines carry the text of the error.
fn reason_phrase(failure: &Failure) -> Option<ReasonPhrase> {
    let line = failure.message().lines().next()?;
    ReasonPhrase::try_from(line.as_bytes()).ok()
}

/// The oldest versions knew no quotes around an ETag.
fn unquote_etag(headers: &mut HeaderMap) {
    let Some(quoted) = headers.get(headers::ETAG).and_then(|value| value.to_str().ok()) else { return };
    if let Ok(bare) = HeaderValue::from_str(quoted.trim_matches('"')) {
        headers.insert(HeaderName::from_static(headers::ETAG), bare);
    }
}
