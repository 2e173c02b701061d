//! The listeners of the services: a request to the front, a line in the log, and a wall around panics.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use lazuli_model::operation::Service;
use lazuli_rest::{Front, ResponseBody};

use crate::log;
use crate::net::{Answering, Finished, Peer};
use crate::wiring::service_name;

pub struct Storage {
    pub front: Arc<Front>,
    pub service: Service,
    /// A line for each request.
    pub access: bool,
    /// The account is never taken from the host name.
    pub path_style_only: bool,
}

impl Answering for Storage {
    type Body = Either<ResponseBody, Full<Bytes>>;

    async fn answer(
        &self,
        peer: &Peer,
        mut request: Request<Incoming>,
    ) -> (Response<Self::Body>, Option<Box<dyn Finished>>) {
        if self.path_style_only {
            // A single label is path style, and no signature covers this header.
            request.headers_mut().insert(http::header::HOST, http::HeaderValue::from_static("localhost"));
        }
        let line = self.access.then(|| Line::new(self.service, peer, &request));
        let served = self.front.serve(self.service, Some(peer.address.ip()), peer.secure, request);
        // State behind a panic is safe to use again: what a request changes, it changes by a commit or not at all.
        let response = match AssertUnwindSafe(served).catch_unwind().await {
            Ok(response) => response.map(Either::Left),
            Err(_) => internal_error(),
        };
        let done = line.map(|line| line.answered(&response));
        (response, done)
    }
}

/// The front did not live to say it.
fn internal_error<L>() -> Response<Either<L, Full<Bytes>>> {
    const BODY: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>InternalError</Code>\
        <Message>Server encountered an internal error. Please try again after some time.</Message></Error>";
    let mut response = Response::new(Either::Right(Full::new(Bytes::from_static(BODY.as_bytes()))));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    let headers = response.headers_mut();
    headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/xml"));
    headers.insert("x-ms-error-code", http::HeaderValue::from_static("InternalError"));
    response
}

/// What the access line says. No header but the ids is ever logged.
struct Line {
    service: Service,
    peer: std::net::IpAddr,
    method: http::Method,
    target: String,
    client_request_id: String,
    status: u16,
    error_code: String,
    request_id: String,
}

impl Line {
    fn new(service: Service, peer: &Peer, request: &Request<Incoming>) -> Self {
        let uri = request.uri();
        let target = match uri.query() {
            None => uri.path().to_owned(),
            Some(query) => format!("{}?{}", uri.path(), log::redact_query(query)),
        };
        Self {
            service,
            peer: peer.address.ip(),
            method: request.method().clone(),
            target,
            client_request_id: text(request.headers(), "x-ms-client-request-id"),
            status: 0,
            error_code: String::new(),
            request_id: String::new(),
        }
    }

    fn answered<B>(mut self, response: &Response<B>) -> Box<dyn Finished> {
        self.status = response.status().as_u16();
        self.request_id = text(response.headers(), "x-ms-request-id");
        self.error_code = text(response.headers(), "x-ms-error-code");
        Box::new(self)
    }
}

fn text(headers: &http::HeaderMap, name: &str) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("-").to_owned()
}

impl Finished for Line {
    fn finished(&mut self, elapsed: Duration, bytes_out: u64) {
        tracing::info!(
            target: log::ACCESS,
            service = service_name(self.service),
            method = %self.method,
            target = %self.target,
            status = self.status,
            error = %self.error_code,
            bytes = bytes_out,
            ms = %format_args!("{:.3}", elapsed.as_secs_f64() * 1000.0),
            request_id = %self.request_id,
            client_request_id = %self.client_request_id,
            peer = %self.peer,
        );
    }
}
