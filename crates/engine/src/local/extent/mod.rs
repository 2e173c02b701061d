//! Chunks in append-only extents, in memory or in files.
//!
//! Bytes are on stable storage before the rows that point to them, so a crash leaves garbage, never a dangling row.

mod collect;
mod extent_map;
mod file;
mod locate;
mod memory;
mod open;
mod pin;
mod record;
mod rows;
mod store;
#[cfg(test)]
mod tests;

use std::{ops::Range, sync::Arc};

use bytes::Bytes;

use crate::{
    error::{Corrupt, EngineError},
    extents::{ExtentStats, Written},
    host::disk::Dir,
    key::{Key, Value},
    local::space::Space,
    txn::{ChunkId, Write},
};
pub(crate) use extent_map::UnderWay;
use memory::MemoryExtents;
use store::FileExtents;

/// Keys of the rows of extents: all of them are given to [`LocalExtents::open`].
pub const EXTENT_ROWS: &[u8] = b"\0x";
/// Keys of the rows of chunks: looked up one by one, never scanned.
pub const CHUNK_ROWS: &[u8] = b"\0c";

#[derive(Clone, Debug)]
pub struct ExtentOptions {
    /// Size of an extent once the store has some content; the first ones are smaller.
    pub extent_bytes: u64,
    pub first_extent_bytes: u64,
    /// LocalExtents open for writing at a time.
    pub writers: usize,
    /// Space that is left alone by whatever makes the store grow, so that deletes can still be committed: beside what the
    /// engine itself needs for its tables.
    pub reserve_bytes: u64,
    /// Empty extents kept for reuse; the rest is given back to the file system.
    pub spare_extents: usize,
    /// How fast the collector copies; 0 is without limit.
    pub collect_bytes_per_second: u64,
    /// LocalExtents whose files are open for reading at a time.
    pub open_files: usize,
}

impl Default for ExtentOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            extent_bytes: 256 << 20,
            first_extent_bytes: 16 << 20,
            writers: cores.min(8),
            reserve_bytes: 64 << 20,
            spare_extents: 2,
            collect_bytes_per_second: 64 << 20,
            open_files: 256,
        }
    }
}

/// The published rows, as the newest commit left them. Values come without the version prefix.
pub(crate) trait Rows: Send + Sync {
    fn get(&self, key: &[u8]) -> Result<Option<Value>, EngineError>;

    /// `None` when that may have to wait for a disk.
    fn get_at_once(&self, key: &[u8]) -> Option<Result<Option<Value>, EngineError>> {
        Some(self.get(key))
    }
}

/// The committed value of a key, for the committer.
pub(crate) type Lookup<'a> = &'a dyn Fn(&[u8]) -> Result<Option<Value>, EngineError>;

/// How the collector commits: publishes these chunks in a transaction of their own, and blocks until it is
/// durable. (The chunks are copies; `rows` turns their publishing into a change of location.)
pub(crate) type CommitCopies = Arc<dyn Fn(Vec<ChunkId>) -> Result<(), EngineError> + Send + Sync>;

#[derive(Clone)]
pub(crate) struct LocalExtents(Arc<Kind>);

enum Kind {
    Memory(MemoryExtents),
    File(Box<FileExtents>),
}

impl LocalExtents {
    pub(crate) fn memory() -> Self {
        Self(Arc::new(Kind::Memory(MemoryExtents::default())))
    }

    /// `rows` are all rows under [`EXTENT_ROWS`]; `salt` is random, so that no two openings ever make
    /// the same chunk id. No extent is read and none is created here.
    pub(crate) fn open(
        dir: Dir,
        options: ExtentOptions,
        salt: u32,
        rows: Vec<(Key, Value)>,
        lookup: Arc<dyn Rows>,
        space: Arc<Space>,
    ) -> Result<Self, EngineError> {
        let store = FileExtents::open(dir, options, u64::from(salt), &rows, lookup, space)?;
        Ok(Self(Arc::new(Kind::File(Box::new(store)))))
    }

    /// Takes bytes into an open extent. They are neither synced nor published when this returns.
    pub async fn write_parts(&self, parts: Vec<Bytes>, len: u32) -> Result<Written, EngineError> {
        match &*self.0 {
            Kind::Memory(memory) => Ok(self.guard(memory.write(&parts), len)),
            Kind::File(store) => match store.write_at_once(&parts, len) {
                Some(written) => written.map(|written| self.guard(written, len)),
                None => {
                    // The guard is made where the write ends: when the caller stops waiting, it is dropped there.
                    let extents = self.clone();
                    let write = move || match &*extents.0 {
                        Kind::File(store) => {
                            store.write(&parts, len, None).map(|written| extents.guard(written, len))
                        }
                        Kind::Memory(_) => Err(EngineError::Unavailable("not in a file")),
                    };
                    blocking(write).await
                }
            },
        }
    }

    fn guard(&self, written: (ChunkId, u64), len: u32) -> Written {
        Written::local(self.clone(), written, len)
    }

    /// The guard of an unpublished chunk is dropped: its bytes become garbage.
    pub fn abandon(&self, id: ChunkId) {
        match &*self.0 {
            Kind::Memory(memory) => memory.abandon(id),
            Kind::File(store) => store.abandon(id),
        }
    }

    /// The bytes of a range of a chunk, verified.
    pub async fn read(&self, id: ChunkId, range: Range<u32>) -> Result<Bytes, EngineError> {
        match &*self.0 {
            Kind::Memory(memory) => memory.read(id, range),
            Kind::File(store) => match store.read_at_once(id, range.clone()) {
                Some(read) => read,
                None => {
                    let _turn = store.reads.acquire().await.map_err(|_| ENDED_EARLY)?;
                    let extents = self.clone();
                    let read = move || match &*extents.0 {
                        Kind::File(store) => store.read(id, range),
                        Kind::Memory(memory) => memory.read(id, range),
                    };
                    blocking(read).await
                }
            },
        }
    }

    /// The CRC-64 of a whole chunk: of its header alone.
    pub async fn crc64(&self, id: ChunkId) -> Result<u64, EngineError> {
        match &*self.0 {
            Kind::Memory(memory) => memory.crc64(id),
            Kind::File(store) => {
                let _turn = store.reads.acquire().await.map_err(|_| ENDED_EARLY)?;
                let extents = self.clone();
                let read = move || match &*extents.0 {
                    Kind::File(store) => store.crc64(id),
                    Kind::Memory(memory) => memory.crc64(id),
                };
                blocking(read).await
            }
        }
    }

    pub fn stats(&self) -> ExtentStats {
        match &*self.0 {
            Kind::Memory(memory) => memory.stats(),
            Kind::File(store) => store.stats(),
        }
    }

    #[cfg(test)]
    pub fn pin(&self) -> pin::Pin {
        match &*self.0 {
            Kind::Memory(memory) => memory.pins.pin(),
            Kind::File(store) => store.pins.pin(),
        }
    }

    /// Whether all bytes of these chunks are on stable storage.
    pub(crate) fn is_durable(&self, publish: &[ChunkId]) -> bool {
        match &*self.0 {
            Kind::Memory(_) => true,
            Kind::File(store) => store.extent_map.lock().unsynced(publish).is_empty(),
        }
    }

    /// Committer, per transaction: takes the chunks from their guards. False when one is not there to be
    /// published (its guard was dropped, or another commit published it before); then none is taken.
    pub(crate) fn claim(&self, publish: &[ChunkId]) -> bool {
        match &*self.0 {
            Kind::Memory(memory) => memory.claim(publish),
            Kind::File(store) => store.extent_map.lock().claim(publish),
        }
    }

    /// The bytes of chunks are durable when this returns: for the flusher before a transaction is queued, and for the
    /// committer before the rows of a group, which then hardly ever finds something left to do. Blocks.
    /// After an error the engine must stop for good.
    pub(crate) fn sync(&self, publish: &[ChunkId]) -> Result<(), EngineError> {
        match &*self.0 {
            Kind::Memory(_) => Ok(()),
            Kind::File(store) => store.sync(publish),
        }
    }

    /// Committer, once per group: the rows that must be in the same atomic batch. `lookup` gives the value of a
    /// key of ours as the last group left it, durable yet or not, without version prefix. After an error
    /// nothing has changed; after success the batch must be written, or the engine stop.
    pub(crate) fn rows(
        &self,
        publish: &[ChunkId],
        release: &[ChunkId],
        lookup: Lookup<'_>,
    ) -> Result<(Vec<Write>, UnderWay), EngineError> {
        match &*self.0 {
            Kind::Memory(_) => Ok(Default::default()),
            Kind::File(store) => store.rows(publish, release, lookup),
        }
    }

    /// Committer: the batch with the rows is durable. In the order of the groups.
    pub(crate) fn committed(&self, publish: &[ChunkId], release: &[ChunkId], under_way: UnderWay) {
        match &*self.0 {
            Kind::Memory(memory) => memory.committed(publish, release),
            Kind::File(store) => {
                if !publish.is_empty() || !release.is_empty() {
                    store.committed(publish, under_way);
                }
            }
        }
    }

    /// Committer: claimed chunks of a refused transaction go back to their guards.
    pub(crate) fn aborted(&self, publish: &[ChunkId]) {
        match &*self.0 {
            Kind::Memory(memory) => memory.aborted(publish),
            Kind::File(store) => store.extent_map.lock().aborted(publish, &store.pins),
        }
    }

    /// Starts the collector's thread; it sleeps until there is something to collect.
    pub(crate) fn start_collector(&self, commit: CommitCopies) {
        collect::start(self, commit);
    }

    /// Ends the collector and waits for it. The committer must still be running.
    pub(crate) fn stop_collector(&self) {
        if let Kind::File(store) = &*self.0 {
            store.collector.stop();
        }
    }

    /// How much of the disk is left; `None` when there is no disk.
    pub(crate) fn space(&self) -> Option<&Space> {
        match &*self.0 {
            Kind::Memory(_) => None,
            Kind::File(store) => Some(&store.space),
        }
    }

    /// The bytes of a chunk.
    pub(crate) fn len_of(&self, id: ChunkId) -> usize {
        match &*self.0 {
            Kind::Memory(_) => 0,
            Kind::File(_) => record::IdParts::unpack(id).len as usize,
        }
    }

    /// Why the extents take no more writes: a write or a sync failed. The engine must stop then, too.
    pub(crate) fn failed(&self) -> Option<&'static str> {
        match &*self.0 {
            Kind::Memory(_) => None,
            Kind::File(store) => store.failed(),
        }
    }
}

const ENDED_EARLY: EngineError = EngineError::Unavailable("the runtime is shutting down");

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(ENDED_EARLY))
}

fn gone(id: ChunkId) -> EngineError {
    EngineError::Corrupt(Corrupt(format!("chunk {:032x} is not there", id.0)))
}

fn out_of_range(id: ChunkId) -> EngineError {
    EngineError::Corrupt(Corrupt(format!("range beyond the end of chunk {:032x}", id.0)))
}
