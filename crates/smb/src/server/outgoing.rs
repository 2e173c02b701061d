//! Frames on their way to the client, in the order in which they were made ready.

use std::collections::VecDeque;
use std::io::{self, IoSlice};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

use super::limits::STEP;
use crate::wire::frame;

/// A frame in parts, which are written as they lie.
pub struct Outgoing {
    pub parts: Vec<Bytes>,
    /// The memory that its payload takes, given back when it is written.
    pub held: Vec<OwnedSemaphorePermit>,
}

pub async fn write_all(
    mut to: impl AsyncWrite + Unpin,
    mut frames: mpsc::Receiver<Outgoing>,
) -> io::Result<()> {
    while let Some(Outgoing { parts, held }) = frames.recv().await {
        let length = parts.iter().map(Bytes::len).sum();
        let prefix = Bytes::copy_from_slice(&frame::prefix(length));
        let mut parts = Parts(std::iter::once(prefix).chain(parts).filter(|part| !part.is_empty()).collect());
        let written = async {
            while parts.has_remaining() {
                to.write_buf(&mut parts).await?;
            }
            io::Result::Ok(())
        };
        timeout(STEP, written).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        drop(held);
    }
    to.shutdown().await
}

struct Parts(VecDeque<Bytes>);

impl Buf for Parts {
    fn remaining(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    fn chunk(&self) -> &[u8] {
        self.0.front().map_or(&[], |part| part)
    }

    fn chunks_vectored<'a>(&'a self, to: &mut [IoSlice<'a>]) -> usize {
        to.iter_mut().zip(&self.0).map(|(slice, part)| *slice = IoSlice::new(part)).count()
    }

    fn advance(&mut self, mut count: usize) {
        while count > 0 {
            let Some(front) = self.0.front_mut() else { return };
            let taken = count.min(front.len());
            front.advance(taken);
            count -= taken;
            if front.is_empty() {
                self.0.pop_front();
            }
        }
    }
}
