//! Bodies of answers, which tell when they are done.

use std::fmt::Display;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use tokio::time::Instant;

use super::activity::{Activity, Phase};

/// How an answer came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The socket took its last byte.
    Complete,
    /// The server could not go on: what the client has is shorter than was announced.
    Broken { why: String },
    /// The client left, or was cut off, before it had everything.
    Left,
}

/// Told once, when the socket took the last byte of an answer or it is known that it never will.
pub trait Finished: Send + 'static {
    fn finished(&mut self, elapsed: Duration, bytes_out: u64, ended: Ended);
}

/// An answer of which the socket does not have everything yet. Dropped as it is, it never will have.
pub struct Unsent {
    done: Option<Box<dyn Finished>>,
    started: Instant,
    bytes_out: u64,
}

impl Unsent {
    pub fn finish(mut self, ended: Ended) {
        self.tell(ended);
    }

    fn tell(&mut self, ended: Ended) {
        if let Some(mut done) = self.done.take() {
            done.finished(self.started.elapsed(), self.bytes_out, ended);
        }
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.tell(Ended::Left);
    }
}

/// A response's body; when it is dropped the connection is idle again.
pub struct Tracked<B> {
    inner: B,
    activity: Arc<Activity>,
    /// As of the last time that anything was asked of the body.
    ended: Option<Ended>,
    unsent: Option<Unsent>,
}

impl<B: Body> Tracked<B> {
    pub fn new(inner: B, activity: Arc<Activity>, started: Instant, done: Option<Box<dyn Finished>>) -> Self {
        let ended = inner.is_end_stream().then_some(Ended::Complete);
        let unsent = done.map(|done| Unsent { done: Some(done), started, bytes_out: 0 });
        Self { inner, activity, ended, unsent }
    }
}

impl<B> Drop for Tracked<B> {
    fn drop(&mut self) {
        self.activity.enter(Phase::Idle);
        let Some(unsent) = self.unsent.take() else { return };
        match self.ended.take() {
            Some(Ended::Complete) => self.activity.wait_for_flush(unsent),
            Some(ended) => unsent.finish(ended),
            None => drop(unsent),
        }
    }
}

impl<B: Body<Data = Bytes, Error: Display> + Unpin> Body for Tracked<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = &mut *self;
        let frame = Pin::new(&mut this.inner).poll_frame(cx);
        match &frame {
            Poll::Pending => {}
            Poll::Ready(None) => this.ended = Some(Ended::Complete),
            Poll::Ready(Some(Err(error))) => this.ended = Some(Ended::Broken { why: error.to_string() }),
            Poll::Ready(Some(Ok(frame))) => {
                this.ended = this.inner.is_end_stream().then_some(Ended::Complete);
                if let (Some(data), Some(unsent)) = (frame.data_ref(), &mut this.unsent) {
                    let more = u64::try_from(data.remaining()).unwrap_or(u64::MAX);
                    unsent.bytes_out = unsent.bytes_out.saturating_add(more);
                }
            }
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

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full, StreamBody};
    use parking_lot::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Told(Arc<Mutex<Vec<(u64, Ended)>>>);

    impl Finished for Told {
        fn finished(&mut self, _elapsed: Duration, bytes_out: u64, ended: Ended) {
            self.0.lock().push((bytes_out, ended));
        }
    }

    fn tracked<B: Body>(body: B, told: &Told) -> (Tracked<B>, Arc<Activity>) {
        let activity = Arc::new(Activity::new());
        let done: Box<dyn Finished> = Box::new(told.clone());
        (Tracked::new(body, Arc::clone(&activity), Instant::now(), Some(done)), activity)
    }

    #[tokio::test]
    async fn an_answer_is_complete_when_the_socket_has_it() {
        let told = Told::default();
        let (body, activity) = tracked(Full::new(Bytes::from_static(b"four")), &told);
        body.collect().await.expect("collected");
        assert_eq!(*told.0.lock(), [], "hyper has it, the socket may not");
        activity.flushed();
        activity.flushed();
        assert_eq!(*told.0.lock(), [(4, Ended::Complete)]);
    }

    #[tokio::test]
    async fn an_answer_that_the_socket_never_took_was_left() {
        let told = Told::default();
        let (body, activity) = tracked(Full::new(Bytes::from_static(b"four")), &told);
        body.collect().await.expect("collected");
        drop(activity);
        let (body, _activity) = tracked(Full::new(Bytes::from_static(b"never asked for")), &told);
        drop(body);
        assert_eq!(*told.0.lock(), [(4, Ended::Left), (0, Ended::Left)]);
    }

    #[tokio::test]
    async fn an_answer_that_fails_is_broken_and_says_why() {
        let told = Told::default();
        let frames = [Ok(Frame::data(Bytes::from_static(b"four"))), Err("the disk")];
        let (body, activity) = tracked(StreamBody::new(futures_util::stream::iter(frames)), &told);
        assert_eq!(body.collect().await.err(), Some("the disk"));
        activity.flushed();
        assert_eq!(*told.0.lock(), [(4, Ended::Broken { why: "the disk".to_owned() })]);
    }

    #[test]
    fn answers_that_wait_for_one_socket_are_bounded() {
        let told = Told::default();
        let activity = Arc::new(Activity::new());
        for _ in 0..1000 {
            let done: Box<dyn Finished> = Box::new(told.clone());
            let body = Full::new(Bytes::new());
            drop(Tracked::new(body, Arc::clone(&activity), Instant::now(), Some(done)));
        }
        assert!((900..1000).contains(&told.0.lock().len()), "{}", told.0.lock().len());
        activity.flushed();
        assert_eq!(told.0.lock().len(), 1000);
    }
}
