//! The multipart answer of a batch while it is written.

use http::StatusCode;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Resource, Row, Service};
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;
use uuid::Uuid;

use super::Done;
use crate::call::Call;
use crate::error::{self, Asked};
use crate::headers;
use crate::later;
use crate::reply::Reply;
use crate::response_body::ResponseBody;
use crate::table::Level;

/// As the parts of an answer name it.
const SERVER: &str = "Windows-Azure-Blob/1.0";

pub struct Answer {
    boundary: String,
    row: &'static Row,
    version: ApiVersion,
    request_id: Uuid,
    client_request_id: Option<String>,
    now: Timestamp,
    out: Vec<u8>,
}

impl Answer {
    pub fn new(call: &Call) -> Self {
        let sent = call.head.headers.find(headers::X_MS_CLIENT_REQUEST_ID);
        Self {
            boundary: format!("batchresponse_{}", lazuli_service::fresh_uuid()),
            row: call.row,
            version: call.head.version,
            request_id: call.head.request_id,
            client_request_id: sent.and_then(|id| id.to_str().ok()).map(str::to_owned),
            now: call.services.wall_now(),
            out: Vec::new(),
        }
    }

    /// One refusal for all parts. It belongs to none of them.
    pub fn whole(&mut self, failure: Failure) {
        let (request_id, id) = (self.request_id, self.client_request_id.clone());
        let reply = failure.into();
        self.part(Done { content_id: None, client_request_id: id, request_id, reply });
    }

    pub fn part(&mut self, done: Done) {
        let Done { content_id, client_request_id, request_id, mut reply } = done;
        self.line(&format!("--{}", self.boundary));
        self.header("Content-Type", "application/http");
        if let Some(id) = content_id {
            self.header("Content-ID", &id);
        }
        self.line("");
        let mut reason = None;
        if let Some(failure) = reply.refusal.take() {
            log(&failure, request_id);
            reason = failure.message().lines().next().map(str::to_owned);
            reply = error::render(reply, &failure, &self.asked(request_id));
        }
        later::take_away(&mut reply.headers, self.version);
        let reason = reason.unwrap_or_else(|| {
            let status = StatusCode::from_u16(reply.status).ok();
            status.and_then(|status| status.canonical_reason()).unwrap_or_default().to_owned()
        });
        self.line(&format!("HTTP/1.1 {} {reason}", reply.status));
        let content_type = reply.headers.remove(headers::CONTENT_TYPE);
        for (name, value) in &reply.headers {
            self.header(name.as_str(), value.to_str().unwrap_or_default());
        }
        self.header(headers::X_MS_REQUEST_ID, &request_id.to_string());
        let version = self.version;
        self.header(headers::X_MS_VERSION, version.as_str());
        if let Some(id) = client_request_id {
            self.header(headers::X_MS_CLIENT_REQUEST_ID, &id);
        }
        let body = match &reply.body {
            ResponseBody::Full(Some(body)) => Some(body.clone()),
            _ => None,
        };
        if let Some(body) = &body {
            self.header("Content-Length", &body.len().to_string());
        }
        if let Some(value) = content_type.as_ref().and_then(|value| value.to_str().ok()) {
            self.header("Content-Type", value);
        }
        self.header("Server", SERVER);
        self.line("");
        if let Some(body) = body {
            self.out.extend_from_slice(&body);
            self.line("");
        }
    }

    pub fn finish(mut self) -> Reply {
        let line = format!("--{}--", self.boundary);
        self.line(&line);
        Reply::of(self.row)
            .header(headers::CONTENT_TYPE, format!("multipart/mixed; boundary={}", self.boundary))
            .bytes(self.out.into())
    }

    fn asked(&self, request_id: Uuid) -> Asked<'_> {
        Asked {
            service: Service::Blob,
            resource: Resource::Blob,
            is_head: false,
            version: self.version,
            level: Level::Minimal,
            row: Some(self.row),
            request_id,
            now: self.now,
        }
    }

    fn header(&mut self, name: &str, value: &str) {
        self.line(&format!("{name}: {value}"));
    }

    fn line(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.out.extend_from_slice(b"\r\n");
    }
}

/// The answer of the batch goes well; what failed inside is written down here.
fn log(failure: &Failure, request_id: Uuid) {
    if failure.status() >= 500 && failure.code != ErrorCode::NotImplemented {
        tracing::error!(%request_id, %failure, "part of a batch failed");
    } else {
        tracing::debug!(%request_id, %failure, "part of a batch refused");
    }
}
