//! One connection from its first byte to its last.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::activity::{Activity, Phase};
use super::body::{Finished, Tracked};
use super::guarded::Guarded;
use super::limits::{HANDSHAKE_PATIENCE, MAX_BUFFER, MAX_HEAD, MAX_HEADERS, PRESSURE_HEAD, PRESSURE_IDLE};

/// First byte of a TLS record that opens a handshake; no HTTP method begins with it.
const TLS_HANDSHAKE: u8 = 0x16;

/// What all connections are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    Open,
    /// Room is short: who has been idle for a while, or does not finish its request's head, should leave. The number
    /// only makes each call a change.
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
    type Body: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
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
}

pub async fn serve<A: Answering>(
    socket: TcpStream,
    address: SocketAddr,
    settings: Arc<Settings<A>>,
    mut traffic: watch::Receiver<Traffic>,
) {
    let opened = tokio::select! {
        opened = open(socket, settings.tls.as_ref(), settings.keep_alive) => opened,
        _ = traffic.wait_for(|now| *now == Traffic::Draining) => return,
    };
    let stream = match opened {
        Ok(stream) => stream,
        Err(error) => {
            tracing::debug!(peer = %address, %error, "connection did not open");
            return;
        }
    };
    let peer = Peer { address, secure: matches!(stream, Stream::Tls(_)) };
    let activity = Arc::new(Activity::new());
    let guarded = Guarded::new(stream, activity.clone(), settings.keep_alive);
    let service = service_fn(|request: Request<Incoming>| {
        activity.enter(Phase::Request);
        let started = Instant::now();
        // hyper keeps room for this future as long as the connection lasts: idle ones must not pay for it.
        let answer = Box::pin(settings.answering.answer(&peer, request));
        let activity = activity.clone();
        async move {
            let (response, done) = answer.await;
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
                    // Nothing was asked yet, so nothing is lost.
                    Traffic::Pressure(_) if activity.has_been(Phase::Head, PRESSURE_HEAD) => return,
                    Traffic::Pressure(_) => activity.has_been(Phase::Idle, PRESSURE_IDLE),
                    Traffic::Draining => true,
                };
                if leaving {
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

/// With a certificate, one port speaks http and https. The first byte is looked at where it lies, in the
/// kernel's buffer, so that telling the two apart costs no copy and no wrapper around the socket.
async fn open(socket: TcpStream, tls: Option<&TlsAcceptor>, keep_alive: Duration) -> io::Result<Stream> {
    let Some(tls) = tls else { return Ok(Stream::Plain(socket)) };
    let mut first = [0];
    let seen = timeout(keep_alive, socket.peek(&mut first)).await??;
    if seen == 0 || first != [TLS_HANDSHAKE] {
        return Ok(Stream::Plain(socket));
    }
    let stream = timeout(HANDSHAKE_PATIENCE, tls.accept(socket)).await??;
    Ok(Stream::Tls(Box::new(stream)))
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
