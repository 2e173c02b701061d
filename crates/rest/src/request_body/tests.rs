use std::collections::VecDeque;

use http_body::Frame;

use super::*;

/// A body made of what a connection might give.
struct Script(VecDeque<Option<Result<Bytes, std::io::Error>>>);

impl http_body::Body for Script {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match self.0.pop_front() {
            None => Poll::Ready(None),
            // Silence for good.
            Some(None) => {
                self.0.push_front(None);
                Poll::Pending
            }
            Some(Some(next)) => Poll::Ready(Some(next.map(Frame::data))),
        }
    }
}

fn data(text: &'static str) -> Option<Result<Bytes, std::io::Error>> {
    Some(Ok(Bytes::from_static(text.as_bytes())))
}

async fn read(
    script: Vec<Option<Result<Bytes, std::io::Error>>>,
    length: Option<u64>,
) -> Result<Vec<u8>, BodyError> {
    let mut body = service_body(Script(script.into()), length, false);
    let mut all = Vec::new();
    while let Some(frame) = body.next().await {
        all.extend_from_slice(&frame?);
    }
    Ok(all)
}

#[tokio::test]
async fn frames_come_through() {
    assert_eq!(read(vec![data("ab"), data(""), data("c")], Some(3)).await.unwrap(), b"abc");
    assert_eq!(read(vec![data("ab")], None).await.unwrap(), b"ab");
    assert_eq!(read(vec![], Some(0)).await.unwrap(), b"");
}

#[tokio::test]
async fn a_length_that_lies_is_an_incomplete_body() {
    assert_eq!(read(vec![data("ab")], Some(3)).await, Err(BodyError::Incomplete));
    assert_eq!(read(vec![data("abcd")], Some(3)).await, Err(BodyError::Incomplete));
}

#[tokio::test]
async fn a_broken_connection_is_an_incomplete_body() {
    let broken = Some(Err(std::io::ErrorKind::ConnectionReset.into()));
    assert_eq!(read(vec![data("ab"), broken], Some(3)).await, Err(BodyError::Incomplete));
}

#[tokio::test(start_paused = true)]
async fn silence_ends_a_body() {
    let started = Instant::now();
    assert_eq!(read(vec![data("ab"), None], Some(3)).await, Err(BodyError::Idle));
    assert_eq!(started.elapsed().as_secs(), IDLE.as_secs());
}

/// So many bytes after each pause.
struct Trickle {
    pause: Duration,
    bytes: usize,
    sleep: Pin<Box<Sleep>>,
}

impl Trickle {
    fn new(pause: Duration, bytes: usize) -> Self {
        Self { pause, bytes, sleep: Box::pin(tokio::time::sleep(pause)) }
    }
}

impl http_body::Body for Trickle {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        if self.sleep.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.sleep = Box::pin(tokio::time::sleep(self.pause));
        Poll::Ready(Some(Ok(Frame::data(vec![0; self.bytes].into()))))
    }
}

async fn trickle(pause: u64, bytes: usize, length: u64) -> Result<u64, BodyError> {
    let mut body = service_body(Trickle::new(Duration::from_secs(pause), bytes), Some(length), false);
    let mut seen = 0;
    while seen < length {
        seen += body.next().await.expect("there is more")?.len() as u64;
    }
    Ok(seen)
}

#[tokio::test(start_paused = true)]
async fn a_trickle_ends_a_body_though_it_is_never_silent_for_long() {
    let started = Instant::now();
    assert_eq!(trickle(20, 1, 1 << 20).await, Err(BodyError::Idle));
    assert!(started.elapsed() < Duration::from_secs(90), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_slow_line_is_no_trickle() {
    // 2 KiB a second, for more than an hour.
    assert_eq!(trickle(4, 8 * 1024, 8 << 20).await, Ok(8 << 20));
}
