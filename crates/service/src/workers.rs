//! Work on large bodies and long lists, off the threads that answer requests. Only so much of it goes on at once: two hundred
//! uploads are two hundred runnable threads otherwise, and a small request waits until each had its turn.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use lazuli_engine::{ChunkId, EngineError, Extents, Written};
use md5::{Digest, Md5};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::Services;
use crate::fault::Answer;

#[derive(Clone)]
pub(crate) struct Workers {
    writing: Arc<Semaphore>,
    /// Apart from the writes, which wait for the disk.
    computing: Arc<Semaphore>,
}

impl Default for Workers {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self { writing: Arc::new(Semaphore::new(cores)), computing: Arc::new(Semaphore::new(cores)) }
    }
}

/// Work over this many bytes is done where the request is: a change of threads costs about as much.
const SMALL_WORK: usize = 32 * 1024;

impl Workers {
    /// Hashes a chunk, if asked to, while it is being written.
    pub async fn write(
        &self,
        extents: &Extents,
        parts: Vec<Bytes>,
        md5: Option<Md5>,
    ) -> Answer<(Written, Option<Md5>)> {
        // Never closed.
        let _turn = self.writing.acquire().await.ok();
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
        let _turn = self.writing.acquire().await.ok();
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

impl Services {
    /// Does what takes long to compute on another thread than that of the request, whose lane others share.
    pub async fn aside<F>(&self, work: F) -> Answer<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let _turn = self.workers().computing.acquire().await.ok();
        let runtime = tokio::runtime::Handle::current();
        match spawn_blocking(move || runtime.block_on(work)).await {
            Ok(done) => Ok(done),
            Err(ended) => match ended.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(ENDED.into()),
            },
        }
    }

    /// The same for work over so many bytes, when these are many.
    pub async fn compute<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        if bytes <= SMALL_WORK { Ok(work()) } else { self.aside(async move { work() }).await }
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
