//! A socket with patience: an idle connection ends after its keep-alive, a head that trickles in or an answer
//! that the client does not take, or takes too slowly, ends it sooner. hyper's own header timer would also end idle connections.
//!
//! Timers are lazy. A timer is armed once and, when it fires, compared with what happened meanwhile; a busy
//! connection therefore never touches the timer wheel.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use super::activity::{Activity, Phase};
use super::cuts::{Cuts, Reason};
use super::limits::HEAD_PATIENCE;
use super::taking_rate::TakingRate;

/// What differs between listeners.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub keep_alive: Duration,
    /// In bytes a second; zero is none.
    pub least_rate: u64,
}

pub struct Guarded<S> {
    inner: S,
    activity: Arc<Activity>,
    keep_alive: Duration,
    read_timer: Timer,
    write_timer: Timer,
    taking_rate: TakingRate,
    cuts: Cuts,
}

impl<S> Guarded<S> {
    pub fn new(inner: S, activity: Arc<Activity>, patience: Patience, cuts: Cuts) -> Self {
        Self {
            inner,
            activity,
            keep_alive: patience.keep_alive,
            read_timer: Timer::default(),
            write_timer: Timer::default(),
            taking_rate: TakingRate::new(patience.least_rate),
            cuts,
        }
    }

    /// The moment the present wait for bytes has lasted long enough.
    fn read_deadline(&self) -> Option<Instant> {
        match self.activity.phase() {
            Phase::Idle => Some(self.activity.since() + self.keep_alive),
            Phase::Head => Some(self.activity.since() + HEAD_PATIENCE),
            // Here hyper only watches for the peer's leaving; the body has a limit of its own.
            Phase::Request => None,
        }
    }

    /// `taken`: how many bytes of an answer went with it.
    fn wrote<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
        taken: impl FnOnce(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        let now = Instant::now();
        if let Poll::Ready(written) = written {
            self.taking_rate.took(written.as_ref().map_or(0, taken), now);
            return Poll::Ready(written);
        }
        let mut at = now;
        loop {
            match self.taking_rate.waits(at) {
                Err(reason) => {
                    self.cuts.count(reason);
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                Ok(deadline) if !self.write_timer.passed(cx, deadline) => return Poll::Pending,
                Ok(_) => at = Instant::now(),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        match Pin::new(&mut this.inner).poll_read(cx, buffer) {
            Poll::Ready(Ok(())) => {
                let read = buffer.filled().get(before..).unwrap_or_default();
                if !read.is_empty() {
                    this.activity.read(read);
                    if this.activity.phase() == Phase::Idle {
                        this.activity.enter(Phase::Head);
                    }
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                let Some(deadline) = this.read_deadline() else { return Poll::Pending };
                if !this.read_timer.passed(cx, deadline) {
                    return Poll::Pending;
                }
                match this.activity.phase() {
                    // Nothing read is an orderly end.
                    Phase::Idle => Poll::Ready(Ok(())),
                    _ => {
                        this.cuts.count(Reason::Head);
                        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
                    }
                }
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let written = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.wrote(cx, written, |bytes| *bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let written = Pin::new(&mut this.inner).poll_write_vectored(cx, slices);
        this.wrote(cx, written, |bytes| *bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let flushed = Pin::new(&mut this.inner).poll_flush(cx);
        // hyper flushes when it has written everything that it was given.
        if matches!(flushed, Poll::Ready(Ok(()))) {
            this.activity.flushed();
        }
        this.wrote(cx, flushed, |()| 0)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let shut = Pin::new(&mut this.inner).poll_shutdown(cx);
        this.wrote(cx, shut, |()| 0)
    }
}

/// A timer that may fire before its deadline has come, because the deadline moved; never after it.
#[derive(Default)]
struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    fn passed(&mut self, cx: &mut Context<'_>, deadline: Instant) -> bool {
        let deadline = tokio::time::Instant::from_std(deadline);
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        // A deadline that moved nearer (idle, then half a head) must be met; one that moved away is met lazily.
        if deadline < sleep.deadline() {
            sleep.as_mut().reset(deadline);
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if tokio::time::Instant::now() >= deadline {
                return true;
            }
            sleep.as_mut().reset(deadline);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::{Instant, timeout};

    use super::super::limits::WRITE_PATIENCE;
    use super::*;

    const KEEP_ALIVE: Duration = Duration::from_millis(150);

    fn guard<S>(inner: S, activity: Arc<Activity>) -> Guarded<S> {
        let patience = Patience { keep_alive: KEEP_ALIVE, least_rate: 16 * 1024 };
        Guarded::new(inner, activity, patience, Cuts::default())
    }

    #[tokio::test]
    async fn an_idle_connection_ends_in_order_after_its_keep_alive() {
        let (_client, server) = duplex(64);
        let mut guarded = guard(server, Arc::new(Activity::new()));
        let started = Instant::now();
        let read = timeout(Duration::from_secs(5), guarded.read(&mut [0; 8])).await.expect("ends by itself");
        assert_eq!(read.expect("no error"), 0);
        assert!(started.elapsed() >= KEEP_ALIVE, "not sooner: {:?}", started.elapsed());
    }

    #[tokio::test]
    async fn a_request_under_way_is_not_timed_by_the_socket() {
        let (_client, server) = duplex(64);
        let activity = Arc::new(Activity::new());
        activity.enter(Phase::Request);
        let mut guarded = guard(server, activity);
        timeout(KEEP_ALIVE * 3, guarded.read(&mut [0; 8])).await.expect_err("still waiting");
    }

    #[tokio::test]
    async fn first_bytes_of_a_head_end_idleness() {
        let (mut client, server) = duplex(64);
        let activity = Arc::new(Activity::new());
        let mut guarded = guard(server, activity.clone());
        client.write_all(b"GET /").await.expect("written");
        assert_eq!(guarded.read(&mut [0; 8]).await.expect("read"), 5);
        assert_eq!(activity.phase(), Phase::Head);
        timeout(KEEP_ALIVE * 3, guarded.read(&mut [0; 8])).await.expect_err("the head has its own patience");
    }

    #[tokio::test]
    async fn an_answer_that_nobody_takes_ends_the_connection() {
        let (_client, server) = duplex(4);
        let mut guarded = guard(server, Arc::new(Activity::new()));
        guarded.write_all(b"full").await.expect("fits");
        // Most of the patience is over already.
        let since = std::time::Instant::now().checked_sub(WRITE_PATIENCE - KEEP_ALIVE).expect("an uptime");
        guarded.taking_rate.waits(since).expect("patience");
        let error = guarded.write_all(b"more").await.expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(guarded.cuts.counted(Reason::Unread), 1);
    }
}
