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
