//! Where bytes are: inline in a key, a few chunks, or a manifest of segments.
//!
//! A content has one holder unless its `r` key counts more. A block is a content of its own, which a manifest lists
//! by name; a list that takes blocks over from an older manifest holds that one as its parent (key `n`). A block
//! belongs to the oldest manifest of such a line that still lists it (decision 0023).

use lazuli_engine::ChunkId;
use serde::{Deserialize, Serialize};

use super::Record;
use crate::key::ContentId;

/// Bodies up to this size live in a key; larger ones in chunks.
pub const INLINE_LIMIT: usize = 16 * 1024;
/// Pieces kept in the blob's own record; more go to a manifest.
pub const PIECES_IN_RECORD: usize = 16;
/// Pieces kept where a block is listed; more go to a manifest of the block's own, so that a list that mentions a block
/// a thousand times does not repeat its pieces a thousand times.
pub const PIECES_IN_BLOCK: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Piece {
    Chunk { id: u128, len: u32 },
    Inline { id: ContentId, len: u32 },
}

impl Piece {
    pub fn size(&self) -> u64 {
        match *self {
            Self::Chunk { len, .. } | Self::Inline { len, .. } => u64::from(len),
        }
    }

    pub fn chunk(&self) -> Option<ChunkId> {
        match *self {
            Self::Chunk { id, .. } => Some(ChunkId(id)),
            Self::Inline { .. } => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    pub id: ContentId,
    pub length: u64,
    pub shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    Empty,
    Pieces(Vec<Piece>),
    /// Segments under `m`; `named` when they are the blocks of a block list.
    Manifest {
        blocks: u32,
        named: bool,
    },
}

impl Content {
    pub fn empty() -> Self {
        Self { id: ContentId(0), length: 0, shape: Shape::Empty }
    }
}

/// A run of blocks, stored under the offset where the run ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub start: u64,
    pub blocks: Vec<ListedBlock>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedBlock {
    /// Decoded block id; empty in a content without names.
    pub name: Vec<u8>,
    pub content: Content,
}

impl Record for Segment {
    const SHAPE: u8 = 2;
    const NAME: &'static str = "manifest segment";

    fn decode_older(shape: u8, fields: &[u8]) -> Option<Result<Self, postcard::Error>> {
        (shape == 1).then(|| postcard::from_bytes::<v1::Segment>(fields).map(Self::from))
    }
}

/// What is left to give back of a content that nothing holds, or to do for one that a list has taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl Record for DeadContent {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "dead content";
}

/// How many holders a shared content has beside the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holders(pub u32);

impl Record for Holders {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "content holders";
}

impl Record for Content {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "content";
}

/// Shapes of before blocks were contents of their own.
pub(super) mod v1 {
    use serde::{Deserialize, Serialize};

    use super::{Content, Piece, Shape};
    use crate::key::ContentId;

    #[derive(Serialize, Deserialize)]
    pub struct Segment {
        pub start: u64,
        pub blocks: Vec<ListedBlock>,
    }

    #[derive(Serialize, Deserialize)]
    pub struct ListedBlock {
        pub name: Vec<u8>,
        pub size: u64,
        pub pieces: Vec<Piece>,
        pub borrowed: bool,
    }

    impl From<Segment> for super::Segment {
        fn from(old: Segment) -> Self {
            let listed = |block: ListedBlock| super::ListedBlock {
                name: block.name,
                content: content(block.size, block.pieces),
            };
            Self { start: old.start, blocks: old.blocks.into_iter().map(listed).collect() }
        }
    }

    /// A block had no id of its own. That of its first piece serves: no other block has it.
    pub fn content(length: u64, pieces: Vec<Piece>) -> Content {
        match pieces.first() {
            None => Content::empty(),
            Some(&Piece::Chunk { id, .. } | &Piece::Inline { id: ContentId(id), .. }) => {
                Content { id: ContentId(id), length, shape: Shape::Pieces(pieces) }
            }
        }
    }
}
