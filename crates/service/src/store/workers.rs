//! Work on large bodies and long lists, off the threads that answer requests. Only so much of it goes on at once: two hundred
//! uploads are two hundred runnable threads otherwise, and a small request waits until each had its turn.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use lazuli_engine::{Crc64, Extents, Written};
use md5::{Digest, Md5};
use tokio::runtime::Handle;

use crate::Services;
use crate::fault::Answer;
use crate::store::record::content::Piece;
use crate::store::seal::{self, Seal, SealingKey};
use crate::turns::Turns;

#[derive(Clone)]
pub(crate) struct Workers {
    writing: Turns,
    /// Apart from the writes, which wait for the disk.
    computing: Turns,
    /// Apart from what every request may need: a query computes for as long as its blob is.
    querying: Turns,
}

impl Default for Workers {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self {
            writing: Turns::new(cores, WRITING),
            computing: Turns::new(cores, COMPUTING),
            querying: Turns::new(cores / 2, COMPUTING),
        }
    }
}

/// How long a request waits for a turn to compute.
const COMPUTING: Duration = Duration::from_secs(30);
/// How long an upload waits for a turn to write: its client has sent much already, and a disk may be slow.
const WRITING: Duration = Duration::from_secs(120);
/// Work over up to this many bytes is done where the request is: a change of threads costs about as much.
const SMALL: usize = 32 * 1024;

/// A chunk that was written, and what is known of the bytes in it.
#[derive(Debug)]
pub(crate) struct WrittenPiece {
    pub written: Written,
    pub len: u32,
    pub crc64: u64,
    pub seal: Option<Seal>,
}

impl WrittenPiece {
    fn plain(written: Written) -> Self {
        Self { len: written.len, crc64: written.crc64, seal: None, written }
    }

    /// Seals the bytes, if there is a key, and writes them.
    pub async fn write(extents: &Extents, parts: Vec<Bytes>, key: Option<&SealingKey>) -> Answer<Self> {
        let Some(key) = key else { return Ok(Self::plain(extents.write_parts(parts).await?)) };
        let (mut len, mut crc64) = (0, Crc64::new());
        for part in &parts {
            len += part.len() as u32;
            crc64.update(part);
        }
        let (sealed, seal) = key.seal(parts)?;
        let written = extents.write_parts(sealed).await?;
        Ok(Self { written, len, crc64: crc64.value(), seal: Some(seal) })
    }
}

impl Workers {
    async fn aside<F>(&self, work: F) -> Answer<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let runtime = Handle::current();
        self.computing.on_thread(move || runtime.block_on(work)).await
    }

    async fn compute<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        if bytes <= SMALL { Ok(work()) } else { self.computing.on_thread(work).await }
    }

    async fn ask<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        if bytes <= SMALL { Ok(work()) } else { self.querying.on_thread(work).await }
    }

    /// Hashes a chunk, if asked to, while it is being written. Never on the request's thread: when memory for unwritten
    /// pages runs short, the kernel makes writers wait.
    pub async fn write(
        &self,
        extents: &Extents,
        parts: Vec<Bytes>,
        md5: Option<Md5>,
    ) -> Answer<(WrittenPiece, Option<Md5>)> {
        let hashing = {
            let parts = parts.clone();
            async {
                let Some(mut md5) = md5 else { return Ok(None) };
                let work = move || {
                    parts.iter().for_each(|part| md5.update(part));
                    md5
                };
                self.computing.on_thread(work).await.map(Some)
            }
        };
        let (extents, runtime) = (extents.clone(), Handle::current());
        let writing = self.writing.on_thread(move || runtime.block_on(extents.write_parts(parts)));
        let (written, md5) = tokio::join!(writing, hashing);
        Ok((WrittenPiece::plain(written??), md5?))
    }

    /// The same for a chunk that is sealed before it is written.
    pub async fn write_sealed(
        &self,
        extents: &Extents,
        parts: Vec<Bytes>,
        mut md5: Option<Md5>,
        key: &SealingKey,
    ) -> Answer<(WrittenPiece, Option<Md5>)> {
        let (extents, key, runtime) = (extents.clone(), key.clone(), Handle::current());
        let work = move || {
            if let Some(md5) = &mut md5 {
                parts.iter().for_each(|part| md5.update(part));
            }
            let written = runtime.block_on(WrittenPiece::write(&extents, parts, Some(&key)))?;
            Ok((written, md5))
        };
        self.writing.on_thread(work).await?
    }

    /// Writes parts of other chunks as one. Sealed parts are opened, and sealed again.
    pub async fn rewrite(
        &self,
        extents: Extents,
        parts: Vec<(Piece, Range<u32>)>,
        key: Option<SealingKey>,
    ) -> Answer<WrittenPiece> {
        let runtime = Handle::current();
        let work = move || {
            runtime.block_on(async {
                let mut bytes = Vec::with_capacity(parts.len());
                for (piece, range) in parts {
                    let Piece::Chunk { len, seal, .. } = piece else { continue };
                    let Some(chunk) = piece.chunk() else { continue };
                    bytes.push(match (seal, &key) {
                        (Some(seal), Some(key)) => {
                            seal::read_chunk(&extents, key, chunk, len, seal, range).await?
                        }
                        _ => extents.read(chunk, range).await?,
                    });
                }
                WrittenPiece::write(&extents, bytes, key.as_ref()).await
            })
        };
        self.writing.on_thread(work).await?
    }
}

impl Services {
    /// Does what takes long to compute on another thread than that of the request, whose lane others share.
    pub fn aside<F>(&self, work: F) -> impl Future<Output = Answer<F::Output>> + Send
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // What few requests do must not make the future of every request larger.
        let work = Box::pin(work);
        self.workers().aside(work)
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

impl Services {
    /// The same for a slice of a query.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        self.workers().ask(bytes, work).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;

    use lazuli_engine::{Engine, Host};
    use lazuli_model::error::ErrorCode;
    use tokio::task::spawn_blocking;

    use super::*;

    #[tokio::test]
    async fn large_work_is_done_by_another_thread_and_small_work_here() {
        let workers = Workers::default();
        let here = thread::current().id();
        assert_eq!(workers.compute(SMALL, || thread::current().id()).await.ok(), Some(here));
        assert_ne!(workers.compute(SMALL + 1, || thread::current().id()).await.ok(), Some(here));
    }

    /// What other requests compute does not wait for queries, nor they for it.
    #[tokio::test(start_paused = true)]
    async fn queries_have_turns_of_their_own() {
        let workers = Workers::default();
        let mut held = Vec::new();
        for _ in 0..workers.querying.free() {
            held.push(workers.querying.take().await.expect("a turn"));
        }
        assert!(workers.ask(SMALL + 1, || ()).await.is_err());
        assert!(workers.compute(SMALL + 1, || ()).await.is_ok());
        held.clear();
        for _ in 0..workers.computing.free() {
            held.push(workers.computing.take().await.expect("a turn"));
        }
        assert!(workers.ask(SMALL + 1, || ()).await.is_ok());
    }

    /// Also when the clients that asked are gone.
    #[tokio::test]
    async fn no_more_goes_on_at_once_than_there_are_turns() {
        let workers = Workers::default();
        let turns = workers.computing.free();
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

    /// The work of a client that has left still waits for the only thread, and holds its turn until it is done.
    #[test]
    fn a_turn_is_over_when_its_work_is() {
        let builder = &mut tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().max_blocking_threads(1).build().expect("a runtime");
        runtime.block_on(async {
            let (workers, engine) = (Workers::default(), Engine::memory(Host::test()));
            let (writing, computing) = (workers.writing.free(), workers.computing.free());
            let (open, gate) = channel::<()>();
            let busy = spawn_blocking(move || gate.recv());
            let left = Duration::from_millis(10);
            let parts = vec![Bytes::from_static(b"x")];
            let write = workers.write(engine.extents(), parts, Some(Md5::new()));
            tokio::time::timeout(left, write).await.expect_err("the thread is busy");
            assert_eq!((workers.writing.free(), workers.computing.free()), (writing - 1, computing - 1));
            let rewrite = workers.rewrite(engine.extents().clone(), Vec::new(), None);
            tokio::time::timeout(left, rewrite).await.expect_err("the thread is busy");
            assert_eq!(workers.writing.free(), writing - 2);
            drop(open);
            let _ = busy.await;
            spawn_blocking(|| ()).await.expect("behind the work");
            assert_eq!((workers.writing.free(), workers.computing.free()), (writing, computing));
        });
    }

    #[tokio::test(start_paused = true)]
    async fn no_turn_is_waited_for_without_an_end() {
        let (workers, engine) = (Workers::default(), Engine::memory(Host::test()));
        let parts = || vec![Bytes::from_static(b"x")];
        let is_busy = |fault: crate::Fault| assert_eq!(fault.0.code, ErrorCode::ServerBusy);
        let mut held = Vec::new();
        for _ in 0..workers.computing.free() {
            held.push(workers.computing.take().await.expect("a turn"));
        }
        is_busy(workers.compute(SMALL + 1, || ()).await.expect_err("busy"));
        is_busy(workers.aside(async {}).await.expect_err("busy"));
        is_busy(
            workers.write(engine.extents(), parts(), Some(Md5::new())).await.map(drop).expect_err("busy"),
        );
        held.clear();
        for _ in 0..workers.writing.free() {
            held.push(workers.writing.take().await.expect("a turn"));
        }
        is_busy(workers.write(engine.extents(), parts(), None).await.map(drop).expect_err("busy"));
        is_busy(
            workers.rewrite(engine.extents().clone(), Vec::new(), None).await.map(drop).expect_err("busy"),
        );
        held.clear();
        workers.write(engine.extents(), parts(), Some(Md5::new())).await.map(drop).expect("written");
    }

    #[tokio::test]
    #[should_panic(expected = "of the work")]
    async fn a_panic_of_the_work_is_one_of_the_request() {
        let _ = Workers::default().compute(SMALL + 1, || panic!("of the work")).await;
    }
}
