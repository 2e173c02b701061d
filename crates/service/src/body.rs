//! A request body: a stream of bytes, read once.

use std::pin::Pin;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::StreamExt;
use lazuli_model::error::{ErrorCode, Failure};
use parking_lot::Mutex;

use crate::fault::{Answer, Fault};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// The connection ended before the announced length, or broke the framing.
    Incomplete,
    /// Nothing came for too long.
    Idle,
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
        }
    }
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

    /// The whole body in memory; longer than `limit` is refused as too large.
    pub async fn collect(mut self, limit: usize) -> Answer<Bytes> {
        if self.length.is_some_and(|length| length > limit as u64) {
            return Err(too_large(limit as u64));
        }
        let mut first = Bytes::new();
        let mut rest: Vec<u8> = Vec::new();
        while let Some(frame) = self.next().await {
            let frame = frame?;
            if first.len() + rest.len() + frame.len() > limit {
                return Err(too_large(limit as u64));
            }
            if rest.is_empty() && first.is_empty() {
                first = frame;
            } else {
                if rest.is_empty() {
                    rest.extend_from_slice(&std::mem::take(&mut first));
                }
                rest.extend_from_slice(&frame);
            }
        }
        Ok(if rest.is_empty() { first } else { rest.into() })
    }
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
