//! One connection from its first byte to its last.

use std::convert::Infallible;
use std::fmt::Display;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use super::activity::{Activity, Phase};
use super::body::{Finished, Tracked};
use super::cuts::{Cuts, Reason};
use super::guarded::{Guarded, Patience};
use super::limits::{MAX_BUFFER, MAX_HEAD, MAX_HEADERS};
use super::line_ends::Framing;
use super::opening::{Unopened, open};
use super::stream::Stream;
use super::well_formed::malformed;

/// What all connections are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    Open,
    /// The acceptor has no place for a new connection: connections that have been idle for a while, or do not finish a
    /// request's head, should leave. The acceptor counts its calls, so that each is a change.
    Pressure(u64),
    /// Finish what is under way and leave.
    Draining,
}

pub struct Peer {
    pub address: SocketAddr,
    pub secure: bool,
}

/// Who answers requests of a listener.
pub trait Answering: Send + Sync + 'static {
    type Body: Body<Data = Bytes, Error: Display + Into<Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + Unpin
        + 'static;

    /// The answer, and whom to tell when it was sent.
    fn answer(
        &self,
        peer: &Peer,
        request: Request<Incoming>,
    ) -> impl Future<Output = (Response<Self::Body>, Option<Box<dyn Finished>>)> + Send;
}

pub struct Settings<A> {
    pub answering: Arc<A>,
    pub tls: Option<TlsAcceptor>,
    pub keep_alive: Duration,
    /// Clients that take their answers more slowly, in bytes a second, are cut off.
    pub least_rate: u64,
}

pub async fn serve<A: Answering>(
    socket: TcpStream,
    address: SocketAddr,
    settings: Arc<Settings<A>>,
    mut traffic: watch::Receiver<Traffic>,
    cuts: &Cuts,
) {
    if *traffic.borrow_and_update() == Traffic::Draining {
        return;
    }
    let activity = Arc::new(Activity::new());
    let stream = match open(socket, settings.tls.as_ref(), &activity, &mut traffic).await {
        Ok(stream) => stream,
        Err(reason) => {
            if let Unopened::Cut(reason) = reason {
                cuts.count(reason);
            }
            tracing::debug!(peer = %address, %reason, "connection did not open");
            return;
        }
    };
    let peer = Peer { address, secure: matches!(stream, Stream::Tls(_)) };
    let patience = Patience { keep_alive: settings.keep_alive, least_rate: settings.least_rate };
    let guarded = Guarded::new(stream, activity.clone(), patience, cuts.clone());
    let service = service_fn(|mut request: Request<Incoming>| {
        let bare_line_feed = activity.request(framing(&request));
        let malformed = malformed(&request, bare_line_feed);
        let last = malformed.is_some();
        if let Some(malformed) = malformed {
            request.extensions_mut().insert(malformed);
        }
        let started = Instant::now();
        // hyper keeps room for this future as long as the connection lasts: idle ones must not pay for it.
        let answer = Box::pin(settings.answering.answer(&peer, request));
        let activity = activity.clone();
        async move {
            let (mut response, done) = answer.await;
            if last {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response.map(|body| Tracked::new(body, activity, started, done)))
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .max_header_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER)
        .header_read_timeout(None);
    // Metadata names are given back as they were spelled; see `lazuli_rest::header_case`.
    builder.preserve_header_case(true);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(guarded), service));
    let mut leaving = false;
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(peer = %peer.address, %error, "connection ended");
                }
                return;
            }
            changed = traffic.changed(), if !leaving => {
                let now = if changed.is_ok() { *traffic.borrow_and_update() } else { Traffic::Draining };
                leaving = match now {
                    Traffic::Open => false,
                    Traffic::Pressure(_) if activity.gives_way() => {
                        cuts.count(Reason::Pressure);
                        // Half a head: nothing was asked yet, so nothing is lost.
                        if activity.phase() == Phase::Head {
                            return;
                        }
                        true
                    }
                    Traffic::Pressure(_) => false,
                    Traffic::Draining => true,
                };
                if leaving {
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

/// hyper takes a body to be chunked whenever there is such a header, and knows the length of every other.
fn framing(request: &Request<Incoming>) -> Framing {
    if request.headers().contains_key(header::TRANSFER_ENCODING) {
        return Framing::Chunked;
    }
    Framing::Length(request.body().size_hint().lower())
}
