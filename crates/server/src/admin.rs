//! The admin endpoint: health for supervisors, numbers for Prometheus, and the test clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use lazuli_service::Services;
use serde::Deserialize;
use tokio::time::timeout;

use crate::metrics::Metrics;
use crate::net::{Answering, Finished, Peer};

/// No body that is meant for this endpoint is larger.
const MAX_BODY: usize = 4096;
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// A year is farther than any lease, message or retention; more is a mistake of unit.
const FARTHEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

pub struct Admin {
    pub services: Services,
    pub metrics: Arc<Metrics>,
    pub token: Option<String>,
    pub test_clock: bool,
    pub well_known_key_exposed: bool,
    /// Cleared when draining begins, so that a balancer sends no more.
    pub ready: Arc<AtomicBool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance_ms: u64,
}

type Answer = Response<Full<Bytes>>;

impl Answering for Admin {
    type Body = Full<Bytes>;

    async fn answer(&self, _peer: &Peer, request: Request<Incoming>) -> (Answer, Option<Box<dyn Finished>>) {
        (self.route(request).await, None)
    }
}

impl Admin {
    async fn route(&self, request: Request<Incoming>) -> Answer {
        let read = matches!(*request.method(), Method::GET | Method::HEAD);
        match request.uri().path() {
            "/healthz" if read => self.health(),
            "/readyz" if read => self.readiness(),
            "/metrics" if read => match self.authorized(&request) {
                true => answer(
                    StatusCode::OK,
                    "application/openmetrics-text; version=1.0.0; charset=utf-8",
                    self.metrics.text(),
                ),
                false => unauthorized(),
            },
            "/clock" if request.method() == Method::POST => match self.authorized(&request) {
                true => self.advance(request).await,
                false => unauthorized(),
            },
            "/healthz" | "/readyz" | "/metrics" | "/clock" => {
                plain(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n")
            }
            _ => plain(StatusCode::NOT_FOUND, "not found: /healthz /readyz /metrics /clock\n"),
        }
    }

    /// Alive: worth keeping. A stopped engine never recovers by itself.
    fn health(&self) -> Answer {
        match self.services.is_stopped() {
            None => plain(StatusCode::OK, "ok\n"),
            Some(reason) => plain(StatusCode::SERVICE_UNAVAILABLE, format!("engine stopped: {reason}\n")),
        }
    }

    fn readiness(&self) -> Answer {
        if self.services.is_stopped().is_some() {
            return self.health();
        }
        if !self.ready.load(Ordering::Relaxed) {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "draining\n");
        }
        if let Some(reason) = self.services.unready() {
            return plain(StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"));
        }
        if self.services.is_late() {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "heartbeats are late\n");
        }
        let mut text = "ready\n".to_owned();
        if self.well_known_key_exposed {
            text.push_str("warning: the well-known key is served beyond loopback\n");
        }
        let others = self.services.servers_with_other_settings();
        if others > 0 {
            text.push_str(&format!(
                "warning: {others} other servers have other accounts, keys, features or byteRetention\n"
            ));
        }
        plain(StatusCode::OK, text)
    }

    async fn advance(&self, request: Request<Incoming>) -> Answer {
        if !self.test_clock {
            return plain(StatusCode::FORBIDDEN, "the clock is real: start with --test-clock to move it\n");
        }
        let read = timeout(BODY_PATIENCE, Limited::new(request.into_body(), MAX_BODY).collect());
        let Ok(Ok(body)) = read.await else {
            return plain(StatusCode::BAD_REQUEST, "unreadable body\n");
        };
        let by = match serde_json::from_slice::<Advance>(&body.to_bytes()) {
            Ok(Advance { advance_ms }) => Duration::from_millis(advance_ms),
            Err(error) => {
                return plain(StatusCode::BAD_REQUEST, format!("expected {{\"advance_ms\": N}}: {error}\n"));
            }
        };
        if by > FARTHEST {
            return plain(StatusCode::BAD_REQUEST, "advance_ms: at most a year at a time\n");
        }
        if let Err(fault) = self.services.advance_clock(by).await {
            return plain(StatusCode::SERVICE_UNAVAILABLE, format!("the clock was not moved: {}\n", fault.0));
        }
        let now = self.services.now().to_unix_ticks();
        answer(StatusCode::OK, "application/json", format!("{{\"now_unix_ticks\": {now}}}\n"))
    }

    fn authorized(&self, request: &Request<Incoming>) -> bool {
        let Some(token) = &self.token else { return true };
        let given =
            request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
        given.strip_prefix(b"Bearer ").is_some_and(|given| same(given, token.as_bytes()))
    }
}

/// Takes equally long wherever the two differ.
fn same(given: &[u8], expected: &[u8]) -> bool {
    let difference = given.iter().zip(expected).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == expected.len() && std::hint::black_box(difference) == 0
}

fn unauthorized() -> Answer {
    let mut response =
        plain(StatusCode::UNAUTHORIZED, "the admin token is needed: Authorization: Bearer TOKEN\n");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    answer(status, "text/plain; charset=utf-8", text)
}

fn answer(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
