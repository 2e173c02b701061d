//! Bodies of answers, which tell when they are done.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use tokio::time::Instant;

use super::activity::{Activity, Phase};

/// Told once, when the last byte of an answer was handed over or the client left.
pub trait Finished: Send + 'static {
    fn finished(&mut self, elapsed: Duration, bytes_out: u64);
}

/// A response's body; when it is dropped the connection is idle again.
pub struct Tracked<B> {
    inner: B,
    activity: Arc<Activity>,
    started: Instant,
    bytes_out: u64,
    done: Option<Box<dyn Finished>>,
}

impl<B> Tracked<B> {
    pub fn new(inner: B, activity: Arc<Activity>, started: Instant, done: Option<Box<dyn Finished>>) -> Self {
        Self { inner, activity, started, bytes_out: 0, done }
    }
}

impl<B> Drop for Tracked<B> {
    fn drop(&mut self) {
        self.activity.enter(Phase::Idle);
        if let Some(mut done) = self.done.take() {
            done.finished(self.started.elapsed(), self.bytes_out);
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Tracked<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = &mut *self;
        let frame = Pin::new(&mut this.inner).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(data) = frame.data_ref()
        {
            this.bytes_out =
                this.bytes_out.saturating_add(u64::try_from(data.remaining()).unwrap_or(u64::MAX));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
