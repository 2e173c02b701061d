//! The bytes of a source, as they come. A source sends what it announced, and does not take for ever.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use lazuli_service::{Body, BodyError};
use tokio::time::{Instant, timeout};

/// How long a source may pause between two parts of its bytes.
const PAUSE: Duration = Duration::from_secs(30);
/// All pauses together may last a minute, and what a source needs that sends 64 KiB a second. So the whole takes a minute and
/// 16 seconds for each MiB at the most, beside the time that this server takes to write.
const PATIENCE: Duration = Duration::from_secs(60);
const PATIENCE_PER_MIB: Duration = Duration::from_secs(16);

/// The source can be asked again.
const UNVERIFIED: u16 = 500;
/// It cannot be believed.
const CONTRADICTED: u16 = 400;

struct Paced<B> {
    body: B,
    announced: u64,
    seen: u64,
    waited: Duration,
}

/// A body that fails as the copy of a source does: by its pauses, or by another length than it announced.
pub(super) fn paced<B>(body: B, announced: u64) -> Body
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
{
    let paced = Paced { body, announced, seen: 0, waited: Duration::ZERO };
    let frames = futures_util::stream::unfold(Some(paced), |paced| async move {
        let mut paced = paced?;
        match paced.next().await {
            Ok(Some(bytes)) => Some((Ok(bytes), Some(paced))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    });
    Body::new(frames, Some(announced))
}

impl<B: http_body::Body<Data = Bytes> + Unpin> Paced<B> {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        let failed = |status: u16, why: &'static str| Err(BodyError::Source { status, why });
        loop {
            let earned = PATIENCE_PER_MIB.mul_f64(self.seen as f64 / f64::from(1 << 20));
            let patience = (PATIENCE + earned).saturating_sub(self.waited).min(PAUSE);
            let asked = Instant::now();
            let frame = match timeout(patience, self.body.frame()).await {
                Err(_) => return failed(UNVERIFIED, "the source is too slow"),
                Ok(None) if self.seen < self.announced => {
                    return failed(CONTRADICTED, "the source sends less than it announced");
                }
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return failed(UNVERIFIED, "the source broke off"),
                Ok(Some(Ok(frame))) => frame,
            };
            self.waited += asked.elapsed();
            // Trailers mean nothing here.
            let Ok(bytes) = frame.into_data() else { continue };
            self.seen += bytes.len() as u64;
            if self.seen > self.announced {
                return failed(CONTRADICTED, "the source sends more than it announced");
            }
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body::Frame;
    use http_body_util::StreamBody;

    use super::*;

    /// So many bytes at a time, with a pause before each.
    fn trickle(
        pause: Duration,
        bytes: usize,
        times: usize,
    ) -> impl http_body::Body<Data = Bytes, Error = Infallible> + Send + Unpin + 'static {
        let frames = futures_util::stream::unfold(0, move |sent| async move {
            if sent == times {
                return None;
            }
            tokio::time::sleep(pause).await;
            Some((Ok(Frame::data(Bytes::from(vec![0; bytes]))), sent + 1))
        });
        StreamBody::new(Box::pin(frames))
    }

    async fn read(mut body: Body) -> Result<u64, BodyError> {
        let mut seen = 0;
        while let Some(bytes) = body.next().await {
            seen += bytes?.len() as u64;
        }
        Ok(seen)
    }

    fn failed(read: Result<u64, BodyError>) -> &'static str {
        match read {
            Err(BodyError::Source { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_is_slow_all_the_time_is_given_up() {
        let began = Instant::now();
        let slow = paced(trickle(Duration::from_secs(20), 1024, 1_000_000), 1_024_000_000);
        assert_eq!(failed(read(slow).await), "the source is too slow");
        assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
        let began = Instant::now();
        let silent = paced(trickle(Duration::from_secs(1_000), 1024, 10), 10 * 1024);
        assert_eq!(failed(read(silent).await), "the source is too slow");
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
        // 128 KiB a second, for more than an hour.
        let steady = paced(trickle(Duration::from_secs(4), 512 * 1024, 1_000), 512_000 * 1024);
        assert_eq!(read(steady).await, Ok(512_000 * 1024));
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_sends_what_it_announced() {
        let of = |announced| paced(trickle(Duration::ZERO, 10, 3), announced);
        assert_eq!(read(of(30)).await, Ok(30));
        assert_eq!(failed(read(of(31)).await), "the source sends less than it announced");
        assert_eq!(failed(read(of(29)).await), "the source sends more than it announced");
    }
}
