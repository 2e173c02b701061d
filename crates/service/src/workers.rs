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

/// Work over up to this many bytes is done where the request is: a change of threads costs about as much.
const SMALL: usize = 32 * 1024;

impl Workers {
    /// The turn goes with the work: a client that leaves does not make room for more of it.
    async fn aside<F>(&self, work: F) -> Answer<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let turn = Arc::clone(&self.computing).acquire_owned().await;
        let runtime = tokio::runtime::Handle::current();
        let done = spawn_blocking(move || {
            let _turn = turn;
            runtime.block_on(work)
        });
        match done.await {
            Ok(done) => Ok(done),
            Err(ended) => match ended.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(ENDED.into()),
            },
        }
    }

    async fn compute<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        if bytes <= SMALL { Ok(work()) } else { self.aside(async move { work() }).await }
    }

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
        self.workers().aside(work).await
    }

    /// The same for work that cannot be cut into slices, such as reading a document, when the bytes that it looks at are
    /// many.
    pub async fn compute<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        self.workers().compute(bytes, work).await
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn large_work_is_done_by_another_thread_and_small_work_here() {
        let workers = Workers::default();
        let here = thread::current().id();
        assert_eq!(workers.compute(SMALL, || thread::current().id()).await.ok(), Some(here));
        assert_ne!(workers.compute(SMALL + 1, || thread::current().id()).await.ok(), Some(here));
    }

    /// Also when those who asked are gone.
    #[tokio::test]
    async fn no_more_goes_on_at_once_than_there_are_turns() {
        let workers = Workers::default();
        let turns = workers.computing.available_permits();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        for _ in 0..turns * 8 {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            let work = move || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(std::time::Duration::from_millis(20));
                now.fetch_sub(1, Ordering::SeqCst);
            };
            let left = std::time::Duration::from_millis(1);
            let _ = tokio::time::timeout(left, workers.compute(SMALL + 1, work)).await;
        }
        assert!((1..=turns).contains(&most.load(Ordering::SeqCst)));
    }
}
