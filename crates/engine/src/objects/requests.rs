//! Requests to the object store: bounded in number and in time, counted, and what they bring is verified.

use super::name::{Name, id_of, id_of_name, path};
use super::{damaged, gone};
use crate::error::EngineError;
use crate::record::{Header, cover, decode_header, header_len};
use crate::stats::{ObjectStats, SyncTimes};
use crate::txn::ChunkId;
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutPayload};
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Requests of a kind that are under way at a time.
const AT_ONCE: usize = 64;
/// What most stores delete with one request.
pub(super) const DELETED_AT_ONCE: usize = 1_000;
/// A request ends after this, with all that was tried again in it.
const PATIENCE: Duration = Duration::from_secs(60);
/// A pass over a list may take so long.
const LIST_PATIENCE: Duration = Duration::from_secs(300);

const NO_ANSWER: EngineError = EngineError::Unavailable("the byte store does not answer");

pub(crate) struct Requests {
    store: Arc<dyn ObjectStore>,
    putting: Semaphore,
    getting: Semaphore,
    counters: Counters,
}

#[derive(Default)]
struct Counters {
    puts: SyncTimes,
    put_bytes: AtomicU64,
    put_failures: AtomicU64,
    gets: SyncTimes,
    get_bytes: AtomicU64,
    get_failures: AtomicU64,
    deleted: AtomicU64,
    delete_failures: AtomicU64,
}

impl Requests {
    pub fn new(store: Arc<dyn ObjectStore>) -> Self {
        let (putting, getting) = (Semaphore::new(AT_ONCE), Semaphore::new(AT_ONCE));
        Self { store, putting, getting, counters: Counters::default() }
    }

    pub fn stats(&self) -> ObjectStats {
        let counters = &self.counters;
        ObjectStats {
            puts: counters.puts.stats(),
            put_bytes: counters.put_bytes.load(Relaxed),
            put_failures: counters.put_failures.load(Relaxed),
            gets: counters.gets.stats(),
            get_bytes: counters.get_bytes.load(Relaxed),
            get_failures: counters.get_failures.load(Relaxed),
            deleted: counters.deleted.load(Relaxed),
            delete_failures: counters.delete_failures.load(Relaxed),
            ..ObjectStats::default()
        }
    }

    /// Durable when it returns. After an error the object may be there or not.
    pub async fn put(&self, id: ChunkId, header: Bytes, parts: Vec<Bytes>) -> Result<(), EngineError> {
        let payload: PutPayload = std::iter::once(header).chain(parts).collect();
        let bytes = payload.content_length() as u64;
        let _turn = self.putting.acquire().await;
        let began = Instant::now();
        match timeout(PATIENCE, self.store.put(&path(id), payload)).await {
            Ok(Ok(_)) => {
                self.counters.puts.took(began.elapsed());
                self.counters.put_bytes.fetch_add(bytes, Relaxed);
                Ok(())
            }
            failed => {
                self.counters.put_failures.fetch_add(1, Relaxed);
                Err(why(id, "write", failed.map(|failed| failed.map(drop))))
            }
        }
    }

    /// The whole chunk, verified.
    pub async fn whole(&self, id: ChunkId) -> Result<(Header, Bytes), EngineError> {
        let len = Name::unpack(id).len;
        let start = header_len(len);
        // What was damaged on its way is asked for once more.
        for _ in 0..2 {
            let bytes = self.get(id, 0..start as u64 + u64::from(len)).await?;
            let payload = bytes.slice(bytes.len().min(start)..);
            if let Some(header) = header_of(id, &bytes)
                && header.verify(&(0..len), &payload)
            {
                return Ok((header, payload));
            }
        }
        Err(damaged(id))
    }

    /// A part of a chunk, verified by its sub-blocks.
    pub async fn read(&self, id: ChunkId, range: Range<u32>) -> Result<Bytes, EngineError> {
        let len = Name::unpack(id).len;
        let covered = cover(&range, len);
        let start = header_len(len) as u64;
        let blocks = start + u64::from(covered.start)..start + u64::from(covered.end);
        for _ in 0..2 {
            let found = self.get_ranges(id, &[0..start, blocks.clone()]).await?;
            if let [header, blocks] = &found[..]
                && let Some(header) = header_of(id, header)
                && header.verify(&covered, blocks)
            {
                let from = (range.start - covered.start) as usize;
                return Ok(blocks.slice(from..from + range.len()));
            }
        }
        Err(damaged(id))
    }

    pub async fn header(&self, id: ChunkId) -> Result<Header, EngineError> {
        let bytes = self.get(id, 0..header_len(Name::unpack(id).len) as u64).await?;
        header_of(id, &bytes).ok_or_else(|| damaged(id))
    }

    async fn get(&self, id: ChunkId, range: Range<u64>) -> Result<Bytes, EngineError> {
        let found = self.get_ranges(id, &[range]).await?;
        found.into_iter().next().ok_or_else(|| damaged(id))
    }

    async fn get_ranges(&self, id: ChunkId, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, EngineError> {
        let _turn = self.getting.acquire().await;
        let began = Instant::now();
        // The store's client panics where an answer is shorter than what was asked for.
        let path = path(id);
        let found = AssertUnwindSafe(self.store.get_ranges(&path, ranges)).catch_unwind();
        let found = timeout(PATIENCE, found).await.map(|found| found.unwrap_or_else(|_| Ok(Vec::new())));
        match found {
            Ok(Ok(found)) => {
                self.counters.gets.took(began.elapsed());
                let bytes: usize = found.iter().map(Bytes::len).sum();
                self.counters.get_bytes.fetch_add(bytes as u64, Relaxed);
                Ok(found)
            }
            failed => {
                self.counters.get_failures.fetch_add(1, Relaxed);
                Err(why(id, "read", failed.map(|failed| failed.map(drop))))
            }
        }
    }

    /// Deletes objects. Returns those that are not there any more, by this request or by an earlier one.
    pub async fn delete(&self, ids: &[ChunkId]) -> Vec<ChunkId> {
        let paths: Vec<_> = ids.iter().map(|id| Ok(path(*id))).collect();
        let mut answers = self.store.delete_stream(futures_util::stream::iter(paths).boxed());
        let (mut gone, until) = (Vec::with_capacity(ids.len()), Instant::now() + PATIENCE);
        // A store that deletes many by one request tells of its failure once: an answer belongs to the object that it names.
        for _ in ids {
            let answer = AssertUnwindSafe(answers.next()).catch_unwind();
            match tokio::time::timeout_at(until.into(), answer).await {
                Ok(Ok(Some(Ok(path)))) => gone.extend(id_of(&path)),
                // Named with the prefix of the place.
                Ok(Ok(Some(Err(Error::NotFound { path, .. })))) => {
                    gone.extend(id_of_name(&path).filter(|id| ids.contains(id)));
                }
                Ok(Ok(Some(Err(error)))) => {
                    self.counters.delete_failures.fetch_add(1, Relaxed);
                    tracing::warn!(%error, "an object is not deleted yet");
                }
                // The store's client panics where an answer names what was not asked for.
                Ok(Err(_)) => {
                    self.counters.delete_failures.fetch_add(1, Relaxed);
                    tracing::error!("the byte store's answer to a deletion cannot be understood");
                    break;
                }
                Ok(Ok(None)) | Err(_) => break,
            }
        }
        self.counters.deleted.fetch_add(gone.len() as u64, Relaxed);
        gone
    }

    /// Calls `found` with what is listed under a prefix, so many at a time.
    pub async fn list<Fut: Future<Output = Result<(), EngineError>>>(
        &self,
        prefix: &Path,
        at_once: usize,
        mut found: impl FnMut(Vec<Path>) -> Fut,
    ) -> Result<(), EngineError> {
        let until = Instant::now() + LIST_PATIENCE;
        let mut pages = self.store.list(Some(prefix)).ready_chunks(at_once);
        loop {
            let page = match tokio::time::timeout_at(until.into(), pages.next()).await {
                Ok(Some(page)) => page,
                Ok(None) => return Ok(()),
                Err(_) => return Err(NO_ANSWER),
            };
            let mut paths = Vec::with_capacity(page.len());
            for object in page {
                match object {
                    Ok(object) => paths.push(object.location),
                    Err(Error::NotFound { .. }) => {}
                    Err(error) => {
                        tracing::warn!(%error, "objects cannot be listed");
                        return Err(NO_ANSWER);
                    }
                }
            }
            found(paths).await?;
        }
    }

    /// A small object that is not a chunk.
    pub async fn note(&self, name: &str) -> Result<Option<Bytes>, String> {
        let read = async { self.store.get(&Path::from(name)).await?.bytes().await };
        match timeout(PATIENCE, read).await {
            Ok(Ok(bytes)) => Ok(Some(bytes)),
            Ok(Err(Error::NotFound { .. })) => Ok(None),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("no answer".into()),
        }
    }

    pub async fn write_note(&self, name: &str, bytes: Bytes) -> Result<(), String> {
        match timeout(PATIENCE, self.store.put(&Path::from(name), bytes.into())).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("no answer".into()),
        }
    }
}

fn header_of(id: ChunkId, bytes: &[u8]) -> Option<Header> {
    decode_header(bytes).filter(|header| (header.id, header.len) == (id, Name::unpack(id).len))
}

fn why(
    id: ChunkId,
    what: &str,
    failed: Result<Result<(), Error>, tokio::time::error::Elapsed>,
) -> EngineError {
    let error = match failed {
        Ok(Err(Error::NotFound { .. })) => return gone(id),
        Ok(Err(error)) => error,
        _ => {
            tracing::warn!(what, "the byte store does not answer");
            return NO_ANSWER;
        }
    };
    tracing::warn!(%error, what, "the byte store failed");
    if is_full(&error) { EngineError::OutOfSpace } else { NO_ANSWER }
}

/// A shared directory whose disk is full says so somewhere below.
fn is_full(error: &Error) -> bool {
    let mut source = std::error::Error::source(error);
    for _ in 0..8 {
        let Some(cause) = source else { return false };
        let io = cause.downcast_ref::<std::io::Error>();
        if io.is_some_and(|io| io.kind() == std::io::ErrorKind::StorageFull) {
            return true;
        }
        source = cause.source();
    }
    false
}
