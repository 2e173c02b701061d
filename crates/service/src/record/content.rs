//! Where bytes are: inline in a key, a few chunks, or a manifest of segments.
//!
//! A content has one holder unless its `r` key counts more. The blocks listed in a manifest belong to it, except
//! the borrowed ones: they belong to the parent (key `n`), which the manifest holds as long as it lives.

use lazuli_engine::ChunkId;
use serde::{Deserialize, Serialize};

use super::Record;
use crate::key::ContentId;

/// Bodies up to this size live in a key; larger ones in chunks.
pub const INLINE_LIMIT: usize = 16 * 1024;
/// Pieces kept in the blob's own record; more go to a manifest.
pub const PIECES_IN_RECORD: usize = 16;

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
    pub size: u64,
    pub pieces: Vec<Piece>,
    /// The pieces are held by a parent content (shared with a snapshot), not by this one.
    pub borrowed: bool,
}

impl Record for Segment {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "manifest segment";
}

/// What is left to give back of a content that nobody holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeadContent {
    Pieces(Vec<Piece>),
    /// All segments; borrowed blocks are not released, the parent loses a holder.
    Manifest,
    /// The segments alone: their blocks have moved to another manifest or are listed as pieces.
    Segments,
    /// Uncommitted blocks that no manifest adopted: every block of the stage.
    Stage,
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
