//! Chunks as objects: in a bucket, a container, or a directory that all servers share.
//!
//! An object is a [record](crate::record), written once under a name that is never used again; so a deletion at the wrong
//! time can cut a download short, and never gives it wrong bytes. Writing returns while the request is under way, as the
//! contract of extents allows; a commit waits for the requests of what it publishes. Which chunks are published is known
//! to rows of the database: `\0c` and the id. `remote::reclaim` deletes the others. Decision 0045.

mod cache;
mod name;
mod pending;
mod place;
mod requests;

use crate::error::{Corrupt, EngineError};
use crate::extents::ExtentStats;
use crate::record::{encode_header, header_len, running_crcs};
use crate::stats::ObjectStats;
use crate::txn::ChunkId;
use bytes::Bytes;
use cache::{Cache, Chunk};
use object_store::ObjectStore;
use parking_lot::Mutex;
use pending::{Pending, Put};
use requests::Requests;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

pub use cache::Announced;
pub(crate) use name::{COUNTER_MASK, Name, SPREAD, bucket, id_of};
pub(crate) use place::open;

/// Chunks up to here are fetched as a whole, whatever is wanted of them.
const SMALL: u32 = 256 << 10;
/// Objects that wait to be deleted because nothing names them; more are left to the search for orphans.
const DISCARDED: usize = 10_000;

/// How much memory objects take on their way.
#[derive(Clone, Copy, Debug)]
pub struct ObjectOptions {
    /// Whole chunks that were read, or will be soon.
    pub cache_bytes: usize,
    /// Chunks whose writing is under way. A writer of more waits.
    pub writing_bytes: usize,
    /// How long an object is kept after it was given back: a database that is restored to a moment in that time finds it.
    pub retention: Duration,
}

impl Default for ObjectOptions {
    fn default() -> Self {
        Self { cache_bytes: 128 << 20, writing_bytes: 64 << 20, retention: Duration::ZERO }
    }
}

#[derive(Clone)]
pub(crate) struct ObjectExtents(Arc<Inner>);

struct Inner {
    requests: Requests,
    pending: Pending,
    cache: Cache,
    names: Mutex<Names>,
    /// Memory for chunks on their way out, in KiB.
    writing: Arc<Semaphore>,
    writing_kib: u32,
    discarded: mpsc::Sender<ChunkId>,
    retention: Duration,
    runtime: Handle,
}

/// Under which names this server writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub incarnation: u32,
    pub hour: u32,
    pub counter: u64,
}

impl ObjectExtents {
    /// Its tasks run on the runtime that this is called on.
    pub fn new(store: Arc<dyn ObjectStore>, options: ObjectOptions, names: Names) -> Self {
        let runtime = Handle::current();
        let (discarded, waiting) = mpsc::channel(DISCARDED);
        let writing_kib = kib(options.writing_bytes).max(kib(crate::extents::MAX_CHUNK) + 1);
        let extents = Self(Arc::new(Inner {
            requests: Requests::new(store),
            pending: Pending::default(),
            cache: Cache::new(options.cache_bytes),
            names: Mutex::new(names),
            writing: Arc::new(Semaphore::new(writing_kib as usize)),
            writing_kib,
            discarded,
            retention: options.retention,
            runtime: runtime.clone(),
        }));
        runtime.spawn(discard(Arc::downgrade(&extents.0), waiting));
        extents
    }

    /// Under which names chunks are written from now on.
    pub fn rename(&self, change: impl FnOnce(&mut Names)) {
        change(&mut self.0.names.lock());
    }

    /// How long objects are kept after they were given back.
    pub fn retention(&self) -> Duration {
        self.0.retention
    }

    pub fn requests(&self) -> &Requests {
        &self.0.requests
    }

    /// Begins to write. Waits while too much is being written already.
    pub async fn write_parts(&self, parts: Vec<Bytes>, len: u32) -> Result<(ChunkId, u64), EngineError> {
        let memory = kib(len as usize).clamp(1, self.0.writing_kib);
        let memory = self.0.writing.clone().acquire_many_owned(memory).await.map_err(|_| ENDED)?;
        let crcs = running_crcs(&parts);
        let crc64 = crcs.last().copied().unwrap_or(0);
        let id = {
            let mut names = self.0.names.lock();
            names.counter = (names.counter + 1) & COUNTER_MASK;
            let Names { incarnation, hour, counter } = *names;
            Name { hour, len, incarnation, counter }.pack()
        };
        let header = Bytes::from(encode_header(id, len, &crcs));
        self.0.pending.begin(id);
        self.0.runtime.spawn(put(self.0.clone(), id, header, parts, memory));
        Ok((id, crc64))
    }

    pub async fn read(&self, id: ChunkId, range: Range<u32>) -> Result<Bytes, EngineError> {
        let len = Name::unpack(id).len;
        if range.start > range.end || range.end > len {
            return Err(out_of_range(id));
        }
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        self.0.pending.readable(id).await?;
        let (start, end) = (range.start as usize, range.end as usize);
        let kept =
            if is_worth_it(range.len() as u32, len) { self.fetch_whole(id) } else { self.0.cache.find(id) };
        let Some(kept) = kept else { return self.0.requests.read(id, range).await };
        let (_, payload) = kept.chunk().await?;
        // A short part is copied, so that it does not keep the whole chunk in memory for as long as it is being sent.
        Ok(if payload.len() > 2 * range.len() {
            Bytes::copy_from_slice(&payload[start..end])
        } else {
            payload.slice(start..end)
        })
    }

    pub async fn crc64(&self, id: ChunkId) -> Result<u64, EngineError> {
        self.0.pending.readable(id).await?;
        Ok(match self.0.cache.find(id) {
            Some(kept) => kept.chunk().await?.0.crc64(),
            None => self.0.requests.header(id).await?.crc64(),
        })
    }

    /// So much of a chunk will be read soon.
    pub fn announce(&self, id: ChunkId, wanted: u32) -> Announced {
        match is_worth_it(wanted, Name::unpack(id).len) {
            true => self.fetch_whole(id).map(cache::Slot::announce).unwrap_or_default(),
            false => Announced::default(),
        }
    }

    /// The whole chunk, in memory or on its way there. `None` without room.
    fn fetch_whole(&self, id: ChunkId) -> Option<Arc<cache::Slot>> {
        let len = Name::unpack(id).len;
        let inner = &self.0;
        inner.cache.find_or_fetch(id, header_len(len) + len as usize, |slot| {
            let inner = inner.clone();
            inner.runtime.clone().spawn(async move {
                let chunk = match inner.requests.whole(id).await {
                    Ok((header, payload)) => Chunk::There { header: Arc::new(header), payload },
                    Err(error) => Chunk::Failed(error),
                };
                inner.cache.fetched(id, &slot, chunk);
            });
        })
    }

    /// The guard of an unpublished chunk is dropped.
    pub fn abandon(&self, id: ChunkId) {
        if self.0.pending.abandon(id) {
            self.0.discard(id);
        }
    }

    /// Why a pending chunk was not written.
    pub fn failure(&self, id: ChunkId) -> Option<EngineError> {
        self.0.pending.failure(id)
    }

    pub async fn durable(&self, publish: &[ChunkId]) -> Result<(), EngineError> {
        self.0.pending.durable(publish).await
    }

    /// Only what was written under the present incarnation can be published: see `remote::writer`.
    pub fn claim(&self, publish: &[ChunkId]) -> bool {
        let incarnation = self.incarnation();
        let own = publish.iter().all(|id| Name::unpack(*id).incarnation == incarnation);
        own && self.0.pending.claim(publish)
    }

    pub fn incarnation(&self) -> u32 {
        self.0.names.lock().incarnation
    }

    pub fn committed(&self, publish: &[ChunkId]) {
        self.0.pending.published(publish);
    }

    pub fn aborted(&self, publish: &[ChunkId]) {
        for id in self.0.pending.unclaim(publish) {
            self.0.discard(id);
        }
    }

    /// What is in extents is not known to one server.
    pub fn stats(&self) -> ExtentStats {
        ExtentStats { pending_chunks: self.0.pending.len() as u64, ..ExtentStats::default() }
    }

    pub fn object_stats(&self) -> ObjectStats {
        let inner = &self.0;
        let free = inner.writing.available_permits() as u64;
        ObjectStats {
            cache_bytes: inner.cache.bytes() as u64,
            cache_hits: inner.cache.hits.load(Relaxed),
            cache_misses: inner.cache.misses.load(Relaxed),
            writing_bytes: (u64::from(inner.writing_kib) - free) << 10,
            ..inner.requests.stats()
        }
    }
}

impl Inner {
    fn discard(&self, id: ChunkId) {
        if self.discarded.try_send(id).is_err() {
            tracing::debug!("an object that nothing names is left to the search for orphans");
        }
    }
}

async fn put(inner: Arc<Inner>, id: ChunkId, header: Bytes, parts: Vec<Bytes>, memory: OwnedSemaphorePermit) {
    let put = match inner.requests.put(id, header, parts).await {
        Ok(()) => Put::Durable,
        Err(error) => Put::Failed(error),
    };
    drop(memory);
    if !inner.pending.ended(id, put) {
        inner.discard(id);
    }
}

/// Deletes objects that no commit will ever name.
async fn discard(extents: std::sync::Weak<Inner>, mut waiting: mpsc::Receiver<ChunkId>) {
    let mut ids = Vec::new();
    while waiting.recv_many(&mut ids, requests::DELETED_AT_ONCE).await > 0 {
        let Some(inner) = extents.upgrade() else { return };
        // What is not deleted now is found by the search for orphans.
        let _ = inner.requests.delete(&ids).await;
        ids.clear();
    }
}

/// Whether the whole chunk is fetched for so much of it.
fn is_worth_it(wanted: u32, len: u32) -> bool {
    len <= SMALL || wanted >= len / 4
}

fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX)
}

const ENDED: EngineError = EngineError::Unavailable("the runtime is shutting down");

fn gone(id: ChunkId) -> EngineError {
    EngineError::Corrupt(Corrupt(format!("chunk {:032x} is not there", id.0)))
}

fn damaged(id: ChunkId) -> EngineError {
    EngineError::Corrupt(Corrupt(format!("chunk {:032x} is damaged", id.0)))
}

fn out_of_range(id: ChunkId) -> EngineError {
    EngineError::Corrupt(Corrupt(format!("range beyond the end of chunk {:032x}", id.0)))
}
