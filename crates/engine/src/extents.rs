//! Bytes too large for a value: immutable chunks, and the seam to where they are kept.
//!
//! A chunk is written first and belongs to no row; the commit that names it in `publish` makes it reachable, the commit
//! that names it in `release` gives it back. A backend writes and reads chunks here, and publishes and releases them in
//! its commits.

use crate::error::EngineError;
use crate::local::LocalExtents;
#[cfg(feature = "objects")]
use crate::objects::{Announced, ObjectExtents};
use crate::txn::ChunkId;
use bytes::Bytes;
use std::ops::Range;

/// The longest payload of a chunk.
pub const MAX_CHUNK: usize = 4 << 20;

#[derive(Clone)]
pub struct Extents(Kind);

#[derive(Clone)]
enum Kind {
    Local(LocalExtents),
    #[cfg(feature = "objects")]
    Objects(ObjectExtents),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtentStats {
    pub extents: u64,
    pub free_extents: u64,
    /// Extents that hold a live chunk which cannot be read.
    pub damaged_extents: u64,
    /// Bytes of chunks that rows point to.
    pub live_bytes: u64,
    /// Bytes of all extents, used or not.
    pub total_bytes: u64,
    /// Chunks written and not yet published.
    pub pending_chunks: u64,
    /// Bytes copied by the collector since the start.
    pub collected_bytes: u64,
}

/// A chunk that is written and not yet published. Dropped before that, its bytes become garbage.
pub struct Written {
    pub id: ChunkId,
    pub len: u32,
    /// CRC-64/NVME of the payload.
    pub crc64: u64,
    extents: Extents,
}

impl Written {
    pub(crate) fn local(extents: LocalExtents, (id, crc64): (ChunkId, u64), len: u32) -> Self {
        Self { id, len, crc64, extents: Extents::local(extents) }
    }
}

impl Written {
    /// Why it will not be published, if that is known already.
    pub fn failure(&self) -> Option<EngineError> {
        match &self.extents.0 {
            Kind::Local(_) => None,
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => objects.failure(self.id),
        }
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        match &self.extents.0 {
            Kind::Local(local) => local.abandon(self.id),
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => objects.abandon(self.id),
        }
    }
}

/// A chunk that will be read soon. While it lives, what was fetched of it is not the first to be forgotten.
#[derive(Default)]
pub struct ReadAhead {
    #[cfg(feature = "objects")]
    _announced: Announced,
}

impl std::fmt::Debug for Written {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Written").field("id", &self.id).field("len", &self.len).finish_non_exhaustive()
    }
}

impl Extents {
    pub(crate) fn local(extents: LocalExtents) -> Self {
        Self(Kind::Local(extents))
    }

    #[cfg(feature = "objects")]
    pub(crate) fn objects(extents: ObjectExtents) -> Self {
        Self(Kind::Objects(extents))
    }

    #[cfg(feature = "objects")]
    pub(crate) fn as_objects(&self) -> Option<&ObjectExtents> {
        match &self.0 {
            Kind::Local(_) => None,
            Kind::Objects(objects) => Some(objects),
        }
    }

    /// Takes bytes. They are neither durable nor published when this returns.
    pub async fn write(&self, payload: Bytes) -> Result<Written, EngineError> {
        self.write_parts(vec![payload]).await
    }

    /// The same for a payload that comes in parts; they are not put together in memory.
    pub async fn write_parts(&self, parts: Vec<Bytes>) -> Result<Written, EngineError> {
        let len: usize = parts.iter().map(Bytes::len).sum();
        if len > MAX_CHUNK {
            return Err(EngineError::TooLarge("chunk"));
        }
        match &self.0 {
            Kind::Local(local) => local.write_parts(parts, len as u32).await,
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => {
                let (id, crc64) = Box::pin(objects.write_parts(parts, len as u32)).await?;
                Ok(Written { id, len: len as u32, crc64, extents: self.clone() })
            }
        }
    }

    /// The bytes of a range of a chunk, verified. Who may race with the chunk's release
    /// must keep it from being released.
    pub async fn read(&self, id: ChunkId, range: Range<u32>) -> Result<Bytes, EngineError> {
        match &self.0 {
            Kind::Local(local) => local.read(id, range).await,
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => Box::pin(objects.read(id, range)).await,
        }
    }

    /// Whether [`Self::read_ahead`] does anything.
    pub fn reads_ahead(&self) -> bool {
        !matches!(self.0, Kind::Local(_))
    }

    /// So many bytes of a chunk will be read soon: extents behind a network begin to fetch it, if they have the memory.
    pub fn read_ahead(&self, id: ChunkId, wanted: u32) -> ReadAhead {
        match &self.0 {
            Kind::Local(_) => {
                let _ = (id, wanted);
                ReadAhead::default()
            }
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => ReadAhead { _announced: objects.announce(id, wanted) },
        }
    }

    /// The CRC-64 of a whole chunk, as it was written; the payload is not read.
    pub async fn crc64(&self, id: ChunkId) -> Result<u64, EngineError> {
        match &self.0 {
            Kind::Local(local) => local.crc64(id).await,
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => Box::pin(objects.crc64(id)).await,
        }
    }

    pub fn stats(&self) -> ExtentStats {
        match &self.0 {
            Kind::Local(local) => local.stats(),
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => objects.stats(),
        }
    }

    /// Returns when the bytes of these chunks are durable; an error when one of them will not be.
    #[cfg(feature = "postgres")]
    pub(crate) async fn durable(&self, publish: &[ChunkId]) -> Result<(), EngineError> {
        match &self.0 {
            Kind::Local(_) => {
                let _ = publish;
                Ok(())
            }
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => objects.durable(publish).await,
        }
    }

    /// A commit takes the chunks from their guards: false when one is not there to be published, and then none is taken.
    #[cfg(feature = "postgres")]
    pub(crate) fn claim(&self, publish: &[ChunkId]) -> bool {
        match &self.0 {
            Kind::Local(local) => local.claim(publish),
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => objects.claim(publish),
        }
    }

    /// The commit that claimed and gave back these chunks is durable.
    #[cfg(feature = "postgres")]
    pub(crate) fn committed(&self, publish: &[ChunkId], release: &[ChunkId]) {
        if publish.is_empty() && release.is_empty() {
            return;
        }
        match &self.0 {
            Kind::Local(local) => local.committed(publish, release, Default::default()),
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => objects.committed(publish),
        }
    }

    /// The commit was refused: claimed chunks go back to their guards.
    #[cfg(feature = "postgres")]
    pub(crate) fn aborted(&self, publish: &[ChunkId]) {
        if publish.is_empty() {
            return;
        }
        match &self.0 {
            Kind::Local(local) => local.aborted(publish),
            #[cfg(feature = "objects")]
            Kind::Objects(objects) => objects.aborted(publish),
        }
    }
}
