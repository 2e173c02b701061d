//! The headers that all answers have, and what an answer must know of its request.

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::ext::ReasonPhrase;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Resource, Row, Service};
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
use crate::reply::Reply;
use crate::request_head::{self, Arrival};
use crate::request_headers::RequestHeaders;
use crate::response_body::ResponseBody;
use crate::table::Level;

/// Longer client request ids are not echoed.
const CLIENT_REQUEST_ID_LIMIT: usize = 1024;

/// What the answer must know of its request after the request itself has been handed on.
pub(crate) struct ResponseHead {
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

impl ResponseHead {
    /// Reads a request, and keeps what its answer will have to know.
    pub fn open(arrival: &Arrival, mut parts: http::request::Parts) -> (Self, Result<Box<Head>, Failure>) {
        let sent: RequestHeaders = std::mem::take(&mut parts.headers).into();
        let client_request_id = sent.find(headers::X_MS_CLIENT_REQUEST_ID).cloned();
        let content_length = sent
            .find(headers::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| text.trim().parse().ok());
        let mut answer = Self {
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
        let head = request_head::read(arrival, parts, sent, answer.request_id);
        if let Ok(head) = &head {
            answer.service = head.target.service;
            answer.resource = spoken_of(head);
            if answer.service == Service::Table {
                answer.level = Level::of(head).unwrap_or(Level::Minimal);
            }
            answer.names_version = request_head::names_version(head);
            answer.version = head.version;
            let shown = head.version_sent.as_deref().unwrap_or(head.version.as_str());
            answer.version_shown = HeaderValue::from_str(shown).ok();
        }
        (answer, head)
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
        if let (false, Some(length)) = (says_nothing, body.length())
            && !headers.contains_key(name::CONTENT_LENGTH)
        {
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

fn server(service: Service) -> &'static str {
    match service {
        Service::Blob | Service::Dfs => "Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0",
        Service::Queue => "Windows-Azure-Queue/1.0 Microsoft-HTTPAPI/2.0",
        Service::Table => "Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0",
        Service::File => "Windows-Azure-File/1.0 Microsoft-HTTPAPI/2.0",
    }
}

pub(crate) fn request_id(id: Uuid) -> HeaderValue {
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
    pub fn at(&self, now: Timestamp) -> HeaderValue {
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
