//! Work on large bodies, off the threads that answer requests. Only so much of it goes on at once: two hundred
//! uploads are two hundred runnable threads otherwise, and a small request waits until each had its turn.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use lazuli_engine::{ChunkId, EngineError, Extents, Written};
use md5::{Digest, Md5};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::fault::Answer;

#[derive(Clone)]
pub(crate) struct Workers(Arc<Semaphore>);

impl Default for Workers {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self(Arc::new(Semaphore::new(cores.max(2))))
    }
}

impl Workers {
    /// Hashes a chunk, if asked to, while it is being written.
    pub async fn write(
        &self,
        extents: &Extents,
        parts: Vec<Bytes>,
        md5: Option<Md5>,
    ) -> Answer<(Written, Option<Md5>)> {
        // Never closed.
        let _turn = self.0.acquire().await.ok();
        let hashing = md5.map(|mut md5| {
            let parts = parts.clone();
            spawn_blocking(move || {
                parts.iter().for_each(|part| md5.update(part));
                md5
            })
        });
        let written = write(extents, parts).await;
        let md5 = match hashing {
            Some(hashing) => Some(hashing.await.map_err(|_| ENDED)?),
            None => None,
        };
        Ok((written?, md5))
    }

    /// Writes parts of other chunks as one.
    pub async fn rewrite(&self, extents: Extents, parts: Vec<(ChunkId, Range<u32>)>) -> Answer<Written> {
        let _turn = self.0.acquire().await.ok();
        let runtime = tokio::runtime::Handle::current();
        let work = move || {
            runtime.block_on(async {
                let mut bytes = Vec::with_capacity(parts.len());
                for (chunk, range) in parts {
                    bytes.push(extents.read(chunk, range).await?);
                }
                extents.write_parts(bytes).await
            })
        };
        Ok(spawn_blocking(work).await.map_err(|_| ENDED)??)
    }
}

const ENDED: EngineError = EngineError::Unavailable("the runtime is shutting down");
/// The extents write up to here on the thread that asks.
const AT_ONCE: usize = 256 * 1024;

/// Never on this thread: when memory for unwritten pages runs short, the kernel makes writers wait.
async fn write(extents: &Extents, parts: Vec<Bytes>) -> Result<Written, EngineError> {
    if parts.iter().map(Bytes::len).sum::<usize>() > AT_ONCE {
        return extents.write_parts(parts).await;
    }
    let (extents, runtime) = (extents.clone(), tokio::runtime::Handle::current());
    spawn_blocking(move || runtime.block_on(extents.write_parts(parts))).await.map_err(|_| ENDED)?
}
