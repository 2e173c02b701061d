//! Contents, manifest segments, and what is left to give back of them.

use serde::{Deserialize, Serialize};

use super::{Shape, first_shape};
use crate::store::key::ContentId;
use crate::store::record::content::{
    self as known, Content, DeadContent, Fragments, Holders, ListedBlock, Piece, Segment,
};
use crate::store::seal::{KeyName, Seal};

#[derive(Serialize, Deserialize)]
pub struct ContentV1 {
    id: ContentId,
    length: u64,
    layout: LayoutV1,
}

/// A variant may be added at the end: what was written before reads as it did.
#[derive(Serialize, Deserialize)]
enum LayoutV1 {
    Empty,
    Pieces(Vec<PieceV1>),
    Manifest { blocks: u32, named: bool },
    Sparse,
}

/// A variant may be added at the end here too.
#[derive(Serialize, Deserialize)]
pub enum PieceV1 {
    Chunk { id: u128, len: u32 },
    Inline { id: ContentId, len: u32 },
    SealedChunk { id: u128, len: u32, seal: SealV1 },
    SealedInline { id: ContentId, len: u32, seal: SealV1 },
}

#[derive(Serialize, Deserialize)]
pub struct SealV1 {
    key: u64,
    salt: u128,
}

/// Blocks had no content of their own: the list told their sizes and pieces.
#[derive(Serialize, Deserialize)]
pub struct SegmentV1 {
    pub start: u64,
    pub blocks: Vec<ListedBlockV1>,
}

#[derive(Serialize, Deserialize)]
pub struct ListedBlockV1 {
    pub name: Vec<u8>,
    pub size: u64,
    pub pieces: Vec<PieceV1>,
    pub borrowed: bool,
}

#[derive(Serialize, Deserialize)]
pub struct SegmentV2 {
    start: u64,
    blocks: Vec<ListedBlockV2>,
}

#[derive(Serialize, Deserialize)]
struct ListedBlockV2 {
    name: Vec<u8>,
    content: ContentV1,
}

#[derive(Serialize, Deserialize)]
pub enum DeadContentV1 {
    Pieces(Vec<PieceV1>),
    Manifest,
    Segments,
    Stage,
    Absorb,
    Layer,
    AbsorbLayer,
    Replaced { seen: Vec<ContentId>, pieces: Vec<PieceV1> },
}

#[derive(Serialize, Deserialize)]
pub struct HoldersV1(u32);

#[derive(Serialize, Deserialize)]
pub struct FragmentsV1(u32);

first_shape!(ContentV1, SegmentV1, DeadContentV1, HoldersV1, FragmentsV1);

impl Shape for SegmentV2 {
    const NUMBER: u8 = 2;
    type Before = SegmentV1;

    fn step(before: SegmentV1) -> Self {
        let listed = |block: ListedBlockV1| ListedBlockV2 {
            name: block.name,
            content: ContentV1::of_block(block.size, block.pieces),
        };
        Self { start: before.start, blocks: before.blocks.into_iter().map(listed).collect() }
    }
}

impl ContentV1 {
    /// The content of a block that had no id of its own. That of its first piece serves: no other block has it.
    pub fn of_block(length: u64, pieces: Vec<PieceV1>) -> Self {
        match pieces.first() {
            None => Self { id: ContentId(0), length: 0, layout: LayoutV1::Empty },
            Some(
                &PieceV1::Chunk { id, .. }
                | &PieceV1::Inline { id: ContentId(id), .. }
                | &PieceV1::SealedChunk { id, .. }
                | &PieceV1::SealedInline { id: ContentId(id), .. },
            ) => Self { id: ContentId(id), length, layout: LayoutV1::Pieces(pieces) },
        }
    }
}

impl From<&Piece> for PieceV1 {
    fn from(piece: &Piece) -> Self {
        match *piece {
            Piece::Chunk { id, len, seal: None } => Self::Chunk { id, len },
            Piece::Inline { id, len, seal: None } => Self::Inline { id, len },
            Piece::Chunk { id, len, seal: Some(seal) } => Self::SealedChunk { id, len, seal: seal.into() },
            Piece::Inline { id, len, seal: Some(seal) } => Self::SealedInline { id, len, seal: seal.into() },
        }
    }
}

impl From<Seal> for SealV1 {
    fn from(Seal { key: KeyName(key), salt }: Seal) -> Self {
        Self { key, salt }
    }
}

impl From<SealV1> for Seal {
    fn from(SealV1 { key, salt }: SealV1) -> Self {
        Self { key: KeyName(key), salt }
    }
}

impl From<PieceV1> for Piece {
    fn from(stored: PieceV1) -> Self {
        match stored {
            PieceV1::Chunk { id, len } => Self::Chunk { id, len, seal: None },
            PieceV1::Inline { id, len } => Self::Inline { id, len, seal: None },
            PieceV1::SealedChunk { id, len, seal } => Self::Chunk { id, len, seal: Some(seal.into()) },
            PieceV1::SealedInline { id, len, seal } => Self::Inline { id, len, seal: Some(seal.into()) },
        }
    }
}

fn pieces(known: &[Piece]) -> Vec<PieceV1> {
    known.iter().map(PieceV1::from).collect()
}

fn known_pieces(stored: Vec<PieceV1>) -> Vec<Piece> {
    stored.into_iter().map(Piece::from).collect()
}

impl From<&Content> for ContentV1 {
    fn from(content: &Content) -> Self {
        let Content { id, length, shape } = content;
        let layout = match shape {
            known::Shape::Empty => LayoutV1::Empty,
            known::Shape::Pieces(known) => LayoutV1::Pieces(pieces(known)),
            &known::Shape::Manifest { blocks, named } => LayoutV1::Manifest { blocks, named },
            known::Shape::Sparse => LayoutV1::Sparse,
        };
        Self { id: *id, length: *length, layout }
    }
}

impl From<ContentV1> for Content {
    fn from(stored: ContentV1) -> Self {
        let shape = match stored.layout {
            LayoutV1::Empty => known::Shape::Empty,
            LayoutV1::Pieces(stored) => known::Shape::Pieces(known_pieces(stored)),
            LayoutV1::Manifest { blocks, named } => known::Shape::Manifest { blocks, named },
            LayoutV1::Sparse => known::Shape::Sparse,
        };
        Self { id: stored.id, length: stored.length, shape }
    }
}

impl From<&Segment> for SegmentV2 {
    fn from(segment: &Segment) -> Self {
        let listed = |ListedBlock { name, content }: &ListedBlock| ListedBlockV2 {
            name: name.clone(),
            content: content.into(),
        };
        Self { start: segment.start, blocks: segment.blocks.iter().map(listed).collect() }
    }
}

impl From<SegmentV2> for Segment {
    fn from(stored: SegmentV2) -> Self {
        let listed = |block: ListedBlockV2| ListedBlock { name: block.name, content: block.content.into() };
        Self { start: stored.start, blocks: stored.blocks.into_iter().map(listed).collect() }
    }
}

impl From<&DeadContent> for DeadContentV1 {
    fn from(dead: &DeadContent) -> Self {
        match dead {
            DeadContent::Pieces(known) => Self::Pieces(pieces(known)),
            DeadContent::Manifest => Self::Manifest,
            DeadContent::Segments => Self::Segments,
            DeadContent::Stage => Self::Stage,
            DeadContent::Absorb => Self::Absorb,
            DeadContent::Layer => Self::Layer,
            DeadContent::AbsorbLayer => Self::AbsorbLayer,
            DeadContent::Replaced { seen, pieces: known } => {
                Self::Replaced { seen: seen.clone(), pieces: pieces(known) }
            }
        }
    }
}

impl From<DeadContentV1> for DeadContent {
    fn from(stored: DeadContentV1) -> Self {
        match stored {
            DeadContentV1::Pieces(stored) => Self::Pieces(known_pieces(stored)),
            DeadContentV1::Manifest => Self::Manifest,
            DeadContentV1::Segments => Self::Segments,
            DeadContentV1::Stage => Self::Stage,
            DeadContentV1::Absorb => Self::Absorb,
            DeadContentV1::Layer => Self::Layer,
            DeadContentV1::AbsorbLayer => Self::AbsorbLayer,
            DeadContentV1::Replaced { seen, pieces } => Self::Replaced { seen, pieces: known_pieces(pieces) },
        }
    }
}

impl From<&Fragments> for FragmentsV1 {
    fn from(fragments: &Fragments) -> Self {
        Self(fragments.0)
    }
}

impl From<FragmentsV1> for Fragments {
    fn from(stored: FragmentsV1) -> Self {
        Self(stored.0)
    }
}

impl From<&Holders> for HoldersV1 {
    fn from(holders: &Holders) -> Self {
        Self(holders.0)
    }
}

impl From<HoldersV1> for Holders {
    fn from(stored: HoldersV1) -> Self {
        Self(stored.0)
    }
}
