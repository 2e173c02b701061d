//! A request body: a stream of bytes, read once.

use std::pin::Pin;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::StreamExt;
use lazuli_model::error::{ErrorCode, Failure};
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

use crate::Services;
use crate::budget::{Budget, Share};
use crate::fault::{Answer, Fault};
use crate::outgoing::held;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// The connection ended before the announced length, or broke the framing.
    Incomplete,
    /// Nothing came for too long.
    Idle,
    /// A checksum within the body is not that of the bytes before it.
    Crc64Mismatch { sent: u64, found: u64 },
    /// What the bytes are wrapped in is not as it should be.
    Malformed(&'static str),
    /// A source elsewhere does not send what it should.
    Source { status: u16, why: &'static str },
}

impl From<BodyError> for Fault {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Incomplete => {
                Failure::new(ErrorCode::InvalidInput).cause("incomplete request body").into()
            }
            BodyError::Idle => {
                Failure::new(ErrorCode::OperationTimedOut).cause("request body stalled").into()
            }
            BodyError::Crc64Mismatch { sent, found } => crc64_mismatch(sent, found).into(),
            BodyError::Source { status, why } => {
                Failure::new(ErrorCode::CannotVerifyCopySource).with_status(status).cause(why).into()
            }
            BodyError::Malformed(how) => Failure::new(ErrorCode::InvalidInput)
                .detail("Reason", how)
                .cause("malformed structured body")
                .into(),
        }
    }
}

/// The CRC-64 that the sender gave, and that of the bytes.
pub(crate) fn crc64_mismatch(sent: u64, found: u64) -> Failure {
    let shown = |crc64: u64| BASE64.encode(crc64.to_le_bytes());
    Failure::new(ErrorCode::Crc64Mismatch)
        .detail("UserSpecifiedCrc", shown(sent))
        .detail("ServerCalculatedCrc", shown(found))
}

type Frames = Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send>>;

pub struct Body {
    /// Never locked: the mutex is there so that whatever holds a body can be borrowed across threads.
    stream: Mutex<Frames>,
    /// As announced by the sender.
    pub length: Option<u64>,
    /// The sender waits for a word before it sends.
    waits: bool,
}

/// Up to here a body costs less to read than to refuse unread.
const SMALL: u64 = 4 * 1024;

impl Body {
    pub fn new(
        stream: impl Stream<Item = Result<Bytes, BodyError>> + Send + 'static,
        length: Option<u64>,
    ) -> Self {
        Self { stream: Mutex::new(Box::pin(stream)), length, waits: false }
    }

    /// A sender that waits is told to go on when the body is read, not before.
    #[must_use]
    pub fn awaited(mut self, waits: bool) -> Self {
        self.waits = waits;
        self
    }

    /// So short, and so surely on its way, that asking whether it will be wanted is not worth the question.
    pub fn is_small(&self) -> bool {
        !self.waits && self.length.is_some_and(|length| length <= SMALL)
    }

    pub fn empty() -> Self {
        Self::new(futures_util::stream::empty(), Some(0))
    }

    pub async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        self.stream.get_mut().next().await
    }

    /// The whole body in memory; longer than `limit` is refused as too large. The bytes count in the memory for
    /// documents until they are dropped.
    pub async fn collect(mut self, limit: usize, services: &Services) -> Answer<Bytes> {
        if self.length.is_some_and(|length| length > limit as u64) {
            return Err(too_large(limit as u64));
        }
        let mut memory = DocumentMemory::of(services);
        let mut first = Bytes::new();
        let mut rest: Vec<u8> = Vec::new();
        while let Some(frame) = memory.next(&mut self).await? {
            if first.len() + rest.len() + frame.len() > limit {
                return Err(too_large(limit as u64));
            }
            memory.grow(frame.len()).await?;
            if rest.is_empty() && first.is_empty() {
                first = frame;
            } else {
                if rest.is_empty() {
                    rest.extend_from_slice(&std::mem::take(&mut first));
                }
                rest.extend_from_slice(&frame);
            }
        }
        Ok(held(if rest.is_empty() { first } else { rest.into() }, memory.share))
    }
}

/// Up to here a document is not counted.
const UNCOUNTED: usize = 16 * 1024;
/// Memory is taken in steps of this as bytes come in: a sender that sends nothing holds nothing.
const STEP: usize = 64 * 1024;
/// How long a document waits for its first memory, and for more. One that holds memory while it waits for more gives up
/// first, so that all cannot wait for each other.
const PATIENCE: Duration = Duration::from_secs(20);
const PATIENCE_FOR_MORE: Duration = Duration::from_secs(5);
/// After each step a sender has this long before it is asked whether it is a slow one.
const GRACE: Duration = Duration::from_secs(3);
/// While memory for documents is short, a sender that is slower than this, in bytes a second, gives its memory back.
const LEAST_RATE: u64 = 16 * 1024;

/// The part of the memory for documents that one of them has.
struct DocumentMemory<'a> {
    budget: &'a Budget,
    share: Option<Share>,
    received: usize,
    /// When the last step was taken, and what had been received by then.
    step: (Instant, usize),
}

impl<'a> DocumentMemory<'a> {
    fn of(services: &'a Services) -> Self {
        Self { budget: services.documents(), share: None, received: 0, step: (Instant::now(), 0) }
    }

    /// The next bytes of the body. A slow sender that holds memory which others want is given up.
    async fn next(&self, body: &mut Body) -> Answer<Option<Bytes>> {
        loop {
            match timeout(Duration::from_secs(1), body.next()).await {
                Ok(frame) => return Ok(frame.transpose()?),
                Err(_) if self.share.is_some() && self.budget.is_short() && self.is_slow() => {
                    return Err(BodyError::Idle.into());
                }
                Err(_) => {}
            }
        }
    }

    fn is_slow(&self) -> bool {
        let (at, before) = self.step;
        let received = (self.received - before) as u64;
        at.elapsed() > GRACE && received < at.elapsed().as_secs() * LEAST_RATE
    }

    async fn grow(&mut self, by: usize) -> Answer<()> {
        self.received += by;
        let held = self.share.as_ref().map_or(UNCOUNTED, Share::bytes);
        if self.received <= held {
            return Ok(());
        }
        if self.share.is_some() && self.budget.is_short() && self.is_slow() {
            return Err(BodyError::Idle.into());
        }
        let wanted = (self.received - held).max(STEP);
        let patience = if self.share.is_some() { PATIENCE_FOR_MORE } else { PATIENCE };
        let more = self.budget.take_within(wanted, patience).await.ok_or_else(no_memory)?;
        self.step = (Instant::now(), self.received);
        match &mut self.share {
            Some(share) => share.join(more),
            None => self.share = Some(more),
        }
        Ok(())
    }
}

fn no_memory() -> Fault {
    Failure::new(ErrorCode::ServerBusy).cause("no memory for a document").into()
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        let length = bytes.len() as u64;
        Self::new(futures_util::stream::iter([Ok(bytes)]), Some(length))
    }
}

pub(crate) fn too_large(limit: u64) -> Fault {
    Failure::new(ErrorCode::RequestBodyTooLarge).detail("MaxLimit", limit.to_string()).into()
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use lazuli_engine::{Engine, Host};

    use super::*;
    use crate::{DOCUMENT_MEMORY, ServiceOptions};

    const LENGTH: usize = 4 * 1024 * 1024;

    /// So many frames, and then nothing for ever.
    fn stalled(frames: usize) -> Body {
        let sent = futures_util::stream::repeat(Ok(Bytes::from(vec![0; STEP]))).take(frames);
        Body::new(sent.chain(futures_util::stream::pending()), Some(LENGTH as u64))
    }

    /// Senders that stop half-way hold memory only as long as others do not want it.
    #[tokio::test(start_paused = true)]
    async fn stalled_documents_give_their_memory_back() {
        let services = Services::new(Engine::memory(Host::real()), ServiceOptions::default());
        let count = 2 * DOCUMENT_MEMORY / LENGTH;
        let mut senders = tokio::task::JoinSet::new();
        for _ in 0..count {
            let services = services.clone();
            senders.spawn(async move { stalled(LENGTH / STEP - 1).collect(LENGTH, &services).await.is_ok() });
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(services.documents().is_short(), "the test is about memory that is held");
        let whole = Body::from(Bytes::from(vec![7; LENGTH]));
        let read = whole.collect(LENGTH, &services).await.expect("there is memory in a while");
        assert_eq!(read.len(), LENGTH);
        drop(read);
        // Enough of them were given up; the others may wait for their senders.
        tokio::time::sleep(Duration::from_secs(60)).await;
        let mut ended = 0;
        while let Some(kept) = senders.try_join_next() {
            assert!(!kept.expect("no panic"));
            ended += 1;
        }
        assert!(ended >= count / 2, "{ended} of {count}");
        drop(senders);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(services.documents().free(), DOCUMENT_MEMORY, "nothing is kept");
    }
}
