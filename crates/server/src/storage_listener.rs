//! The listeners of the services: a request to the gateway, a line in the log, and a wall around panics.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use lazuli_model::operation::Service;
use lazuli_rest::headers::name;
use lazuli_rest::{Gateway, ResponseBody, Served, WebAddress};

use crate::assemble::service_name;
use crate::log;
use crate::metrics::{Metrics, Request as Counted};
use crate::net::{Answering, Ended, Finished, Peer};

pub struct StorageListener {
    pub gateway: Arc<Gateway>,
    pub place: Place,
    pub metrics: Arc<Metrics>,
    /// A line for each request; otherwise only for those that failed.
    pub access: bool,
    /// The account is never taken from the host name.
    pub path_style_only: bool,
}

/// What a port is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Service(Service),
    /// The static websites of the accounts.
    Web,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Service(service) => service_name(service),
            Self::Web => "web",
        }
    }
}

impl Answering for StorageListener {
    type Body = Either<ResponseBody, Full<Bytes>>;

    async fn answer(
        &self,
        peer: &Peer,
        mut request: Request<Incoming>,
    ) -> (Response<Self::Body>, Option<Box<dyn Finished>>) {
        if self.path_style_only {
            // A single label is path style, and no signature covers this header.
            request.headers_mut().insert(http::header::HOST, HeaderValue::from_static("localhost"));
        }
        let asked = Asked::of(&request);
        let (from, secure) = (Some(peer.address.ip()), peer.secure);
        let served = async {
            match self.place {
                Place::Service(service) => self.gateway.serve_named(service, from, secure, request).await,
                Place::Web => self.gateway.serve_web(WebAddress::ByHostOrPath, from, secure, request).await,
            }
        };
        // State behind a panic is safe to use again: what a request changes, it changes by a commit or not at all.
        let (response, operation, bytes_in) = match AssertUnwindSafe(served).catch_unwind().await {
            Ok(Served { response, operation, bytes_in }) => (response.map(Either::Left), operation, bytes_in),
            Err(_) => (internal_error(), "Unrouted", 0),
        };
        let exchange = Exchange {
            place: self.place,
            metrics: Arc::clone(&self.metrics),
            access: self.access,
            peer: peer.address.ip(),
            asked,
            operation,
            bytes_in,
            status: response.status(),
            error_code: response.headers().get(name::X_MS_ERROR_CODE).cloned(),
            request_id: response.headers().get(name::X_MS_REQUEST_ID).cloned(),
        };
        (response, Some(Box::new(exchange)))
    }
}

/// The gateway did not live to say it.
fn internal_error<L>() -> Response<Either<L, Full<Bytes>>> {
    const BODY: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>InternalError</Code>\
        <Message>Server encountered an internal error. Please try again after some time.</Message></Error>";
    let mut response = Response::new(Either::Right(Full::new(Bytes::from_static(BODY.as_bytes()))));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    let headers = response.headers_mut();
    headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    headers.insert("x-ms-error-code", HeaderValue::from_static("InternalError"));
    response
}

/// What the log says of a request. The parts are shared with the request: nothing is printed unless the line is written.
struct Asked {
    method: Method,
    uri: Uri,
    client_request_id: Option<HeaderValue>,
}

impl Asked {
    fn of<B>(request: &Request<B>) -> Self {
        let headers: &HeaderMap = request.headers();
        Self {
            method: request.method().clone(),
            uri: request.uri().clone(),
            client_request_id: headers.get(name::X_MS_CLIENT_REQUEST_ID).cloned(),
        }
    }

    /// Path and query without secrets.
    fn target(&self) -> String {
        match self.uri.query() {
            None => self.uri.path().to_owned(),
            Some(query) => format!("{}?{}", self.uri.path(), log::redact_query(query)),
        }
    }
}

/// A request and its answer, for the metrics and the access line. No header but the ids is ever logged.
struct Exchange {
    place: Place,
    metrics: Arc<Metrics>,
    access: bool,
    peer: IpAddr,
    asked: Asked,
    operation: &'static str,
    bytes_in: u64,
    status: StatusCode,
    error_code: Option<HeaderValue>,
    request_id: Option<HeaderValue>,
}

impl Finished for Exchange {
    fn finished(&mut self, elapsed: Duration, bytes_out: u64, ended: Ended) {
        let (operation, status) = (self.operation, self.status.as_u16());
        let bytes_in = self.bytes_in;
        self.metrics.finished(&Counted { operation, status, elapsed, bytes_in, bytes_out, ended: &ended });
        if let Ended::Broken { why } = &ended {
            let request_id = text(self.request_id.as_ref());
            tracing::error!(request_id, operation, why, "an answer broke off");
        }
        let failed = self.status.is_server_error() || matches!(ended, Ended::Broken { .. });
        if self.access || failed {
            self.log(elapsed, bytes_out, &ended);
        }
    }
}

impl Exchange {
    fn log(&self, elapsed: Duration, bytes_out: u64, ended: &Ended) {
        tracing::info!(
            target: log::ACCESS,
            service = self.place.name(),
            operation = self.operation,
            method = %self.asked.method,
            target = %self.asked.target(),
            status = self.status.as_u16(),
            error = %text(self.error_code.as_ref()),
            bytes = bytes_out,
            sent = match ended {
                Ended::Complete => "complete",
                Ended::Broken { .. } => "broken",
                Ended::Left => "left",
            },
            ms = %format_args!("{:.3}", elapsed.as_secs_f64() * 1000.0),
            request_id = %text(self.request_id.as_ref()),
            client_request_id = %text(self.asked.client_request_id.as_ref()),
            peer = %self.peer,
        );
    }
}

fn text(value: Option<&HeaderValue>) -> &str {
    value.and_then(|value| value.to_str().ok()).unwrap_or("-")
}
