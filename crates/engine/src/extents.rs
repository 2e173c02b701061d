//! Bytes too large for a value: immutable chunks, and the seam to where they are kept.
//!
//! A chunk is written first and belongs to no row; the commit that names it in `publish` makes it reachable, the commit
//! that names it in `release` gives it back. A backend writes and reads chunks here, and publishes and releases them in
//! its commits.

use crate::error::EngineError;
use crate::local::LocalExtents;
use crate::txn::ChunkId;
use bytes::Bytes;
use std::ops::Range;

pub use crate::local::Pin;

/// The longest payload of a chunk.
pub const MAX_CHUNK: usize = 4 << 20;

#[derive(Clone)]
pub struct Extents(Kind);

#[derive(Clone)]
enum Kind {
    Local(LocalExtents),
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

impl Drop for Written {
    fn drop(&mut self) {
        match &self.extents.0 {
            Kind::Local(local) => local.abandon(self.id),
        }
    }
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
        }
    }

    /// The bytes of a range of a chunk, verified. A caller that may race with the chunk's release holds a [`Pin`].
    pub async fn read(&self, id: ChunkId, range: Range<u32>) -> Result<Bytes, EngineError> {
        match &self.0 {
            Kind::Local(local) => local.read(id, range).await,
        }
    }

    /// The CRC-64 of a whole chunk, as it was written; the payload is not read. A caller that may race with the chunk's
    /// release holds a [`Pin`].
    pub async fn crc64(&self, id: ChunkId) -> Result<u64, EngineError> {
        match &self.0 {
            Kind::Local(local) => local.crc64(id).await,
        }
    }

    pub fn stats(&self) -> ExtentStats {
        match &self.0 {
            Kind::Local(local) => local.stats(),
        }
    }

    pub(crate) fn pin(&self) -> Pin {
        match &self.0 {
            Kind::Local(local) => local.pin(),
        }
    }
}
