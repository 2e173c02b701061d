//! A request body on its way from the connection to the service.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use lazuli_service::{Body, BodyError};
use tokio::time::{Instant, Sleep};

/// The longest silence of a sender in the middle of a body.
const IDLE: Duration = Duration::from_secs(60);
/// All silences of a body together may last a minute and what the service allows a write: ten minutes a megabyte.
/// Whoever sends a byte now and then would otherwise hold a connection for ever.
const SILENCE: Duration = Duration::from_secs(60);
const SILENCE_PER_MIB: Duration = Duration::from_secs(600);
/// What is read and thrown away of a body that nobody wanted, so that the sender gets to see the answer.
const DRAIN_BYTES: u64 = 256 * 1024 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(30);

/// `length` is Content-Length. `waits`: the sender waits for `100 Continue` before it sends.
pub fn service_body<B>(body: B, length: Option<u64>, waits: bool) -> Body
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
{
    if length == Some(0) || body.is_end_stream() {
        return Body::empty();
    }
    let drain = !waits && length.is_none_or(|length| length <= DRAIN_BYTES);
    Body::new(
        Received {
            body: Some(body),
            left: length,
            seen: 0,
            silent: Duration::ZERO,
            idle: None,
            started: false,
            drain,
        },
        length,
    )
    .awaited(waits)
}

struct Received<B>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
{
    /// None once it has ended, well or not.
    body: Option<B>,
    /// What is still to come of the announced length.
    left: Option<u64>,
    seen: u64,
    /// How long the sender kept us waiting, the present wait aside. What we keep the sender waiting does not count.
    silent: Duration,
    /// Only while the sender keeps us waiting: since when, and until it has been too long.
    idle: Option<(Instant, Pin<Box<Sleep>>)>,
    started: bool,
    drain: bool,
}

impl<B> Stream for Received<B>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
{
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        this.started = true;
        loop {
            let Some(body) = &mut this.body else { return Poll::Ready(None) };
            match Pin::new(body).poll_frame(context) {
                Poll::Pending => {
                    let patience = patience(this.seen, this.silent);
                    let (_, idle) = this
                        .idle
                        .get_or_insert_with(|| (Instant::now(), Box::pin(tokio::time::sleep(patience))));
                    if idle.as_mut().poll(context).is_pending() {
                        return Poll::Pending;
                    }
                    return this.fail(BodyError::Idle);
                }
                Poll::Ready(Some(Ok(frame))) => {
                    if let Some((since, _)) = this.idle.take() {
                        this.silent += since.elapsed();
                    }
                    // Trailers mean nothing to the service.
                    let Ok(data) = frame.into_data() else { continue };
                    this.seen += data.len() as u64;
                    if let Some(left) = &mut this.left {
                        match left.checked_sub(data.len() as u64) {
                            Some(rest) => *left = rest,
                            None => return this.fail(BodyError::Incomplete),
                        }
                    }
                    if !data.is_empty() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
                Poll::Ready(Some(Err(_))) => return this.fail(BodyError::Incomplete),
                Poll::Ready(None) if this.left.is_some_and(|left| left > 0) => {
                    return this.fail(BodyError::Incomplete);
                }
                Poll::Ready(None) => {
                    this.body = None;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

impl<B> Received<B>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
{
    fn fail(&mut self, error: BodyError) -> Poll<Option<Result<Bytes, BodyError>>> {
        self.body = None;
        Poll::Ready(Some(Err(error)))
    }
}

/// How long the next silence may be.
fn patience(seen: u64, silent: Duration) -> Duration {
    let earned = SILENCE_PER_MIB.mul_f64(seen as f64 / f64::from(1 << 20));
    (SILENCE + earned).saturating_sub(silent).min(IDLE)
}

/// A request may be refused before its body is read. Many clients look at the answer only after they have sent
/// everything: closing the connection on them would show them a reset instead of, say, a 412.
impl<B> Drop for Received<B>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
{
    fn drop(&mut self) {
        let Some(body) = self.body.take() else { return };
        if self.left == Some(0) || (!self.drain && !self.started) {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(drain(body));
        }
    }
}

async fn drain<B>(mut body: B)
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
{
    let until = Instant::now() + DRAIN_TIME;
    let mut seen = 0;
    while seen <= DRAIN_BYTES {
        let next = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        match tokio::time::timeout_at(until, next).await {
            Ok(Some(Ok(frame))) => seen += frame.data_ref().map_or(0, |data| data.len() as u64),
            Ok(Some(Err(_)) | None) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests;
