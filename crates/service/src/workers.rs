//! Work on large bodies, off the threads that answer requests. Only so much of it goes on at once: two hundred
//! uploads are two hundred runnable threads otherwise, and a small request waits until each had its turn.

use std::sync::Arc;

use bytes::Bytes;
use lazuli_engine::{EngineError, Extents, Written};
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

/// What is done on the thread that asks: it takes less time than asking another one.
const SMALL: usize = 64 * 1024;

impl Workers {
    /// Work that cannot be cut into slices, such as reading a large document; `size` is about the bytes that it looks
    /// at. The turn goes with the work: a client that leaves does not make room for more of it.
    pub async fn run<T: Send + 'static>(
        &self,
        size: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        if size <= SMALL {
            return Ok(work());
        }
        let turn = Arc::clone(&self.0).acquire_owned().await;
        let done = spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        match done.await {
            Ok(done) => Ok(done),
            Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
            Err(_) => Err(ENDED.into()),
        }
    }

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
        assert_eq!(workers.run(SMALL, || thread::current().id()).await.ok(), Some(here));
        assert_ne!(workers.run(SMALL + 1, || thread::current().id()).await.ok(), Some(here));
    }

    /// Also when those who asked are gone.
    #[tokio::test]
    async fn no_more_goes_on_at_once_than_there_are_turns() {
        let workers = Workers::default();
        let turns = workers.0.available_permits();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        for _ in 0..turns * 8 {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            let work = move || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(std::time::Duration::from_millis(20));
                now.fetch_sub(1, Ordering::SeqCst);
            };
            let left = std::time::Duration::from_millis(1);
            let _ = tokio::time::timeout(left, workers.run(SMALL + 1, work)).await;
        }
        assert!((1..=turns).contains(&most.load(Ordering::SeqCst)));
    }
}
