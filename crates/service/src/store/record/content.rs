//! Where bytes are: inline in a key, a few chunks, or a manifest of segments.
//!
//! A content has one holder unless its `r` key counts more. A block is a content of its own, which a manifest lists
//! by name; a list that takes blocks over from an older manifest holds that one as its parent (key `n`). A block
//! belongs to the oldest manifest of such a line that still lists it (decision 0023).

use lazuli_engine::ChunkId;

use super::{Record, stored};
use crate::store::key::ContentId;
use crate::store::seal::Seal;

/// Bodies up to this size live in a key; larger ones in chunks.
pub const INLINE_LIMIT: usize = 16 * 1024;
/// Pieces kept in the blob's own record; more go to a manifest.
pub const PIECES_IN_RECORD: usize = 16;
/// Pieces kept where a block is listed; more go to a manifest of the block's own, so that a list that mentions a block
/// a thousand times does not repeat its pieces a thousand times.
pub const PIECES_IN_BLOCK: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    Chunk { id: u128, len: u32, seal: Option<Seal> },
    Inline { id: ContentId, len: u32, seal: Option<Seal> },
}

impl Piece {
    /// Of its bytes, which take more room where they are sealed.
    pub fn size(&self) -> u64 {
        match *self {
            Self::Chunk { len, .. } | Self::Inline { len, .. } => u64::from(len),
        }
    }

    pub fn seal(&self) -> Option<Seal> {
        match *self {
            Self::Chunk { seal, .. } | Self::Inline { seal, .. } => seal,
        }
    }

    pub fn chunk(&self) -> Option<ChunkId> {
        match *self {
            Self::Chunk { id, .. } => Some(ChunkId(id)),
            Self::Inline { .. } => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    pub id: ContentId,
    pub length: u64,
    pub shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Empty,
    Pieces(Vec<Piece>),
    /// Segments under `m`; `named` when they are the blocks of a block list. Those of an append blob may be more than
    /// the length of this content: a later record goes on behind it.
    Manifest {
        blocks: u32,
        named: bool,
    },
    /// Layers of intervals under `x`, the content's own on top; what none covers is a hole.
    Sparse,
}

impl Content {
    pub fn empty() -> Self {
        Self { id: ContentId(0), length: 0, shape: Shape::Empty }
    }
}

/// A run of blocks, stored under the offset where the run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub start: u64,
    pub blocks: Vec<ListedBlock>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBlock {
    /// Decoded block id; empty in a content without names.
    pub name: Vec<u8>,
    pub content: Content,
}

impl Record for Segment {
    const NAME: &'static str = "manifest segment";
    type Newest = stored::content::SegmentV2;
}

/// What is left to give back of a content that nothing holds, or to do for one that a list has taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeadContent {
    Pieces(Vec<Piece>),
    /// All segments and the blocks that belong to it; the parent loses a holder.
    Manifest,
    /// The segments alone: no bytes belong to them.
    Segments,
    /// Uncommitted blocks that no manifest adopted: every block of the stage.
    Stage,
    /// A manifest that may have one holder left. If that is a manifest with this one as its parent, what the younger
    /// one does not list is given back, and the younger one takes its place.
    Absorb,
    /// A layer that nothing holds: all intervals and the chunks that belong to them; the parent loses a holder.
    Layer,
    /// The same as `Absorb` of a layer.
    AbsorbLayer,
    /// Bytes that were written over, in layers through which downloads may have seen them.
    Replaced {
        seen: Vec<ContentId>,
        pieces: Vec<Piece>,
    },
}

impl Record for DeadContent {
    const NAME: &'static str = "dead content";
    type Newest = stored::content::DeadContentV1;
}

/// How many intervals share a chunk that was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragments(pub u32);

impl Record for Fragments {
    const NAME: &'static str = "fragments of a chunk";
    type Newest = stored::content::FragmentsV1;
}

/// How many holders a shared content has beside the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holders(pub u32);

impl Record for Holders {
    const NAME: &'static str = "content holders";
    type Newest = stored::content::HoldersV1;
}

impl Record for Content {
    const NAME: &'static str = "content";
    type Newest = stored::content::ContentV1;
}
