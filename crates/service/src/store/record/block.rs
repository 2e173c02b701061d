//! Blocks that are uploaded and not yet committed.

use serde::{Deserialize, Serialize};

use super::Record;
use super::content::{Content, Piece, v1};
use super::lease::StoredLease;
use crate::key::ContentId;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRecord {
    pub content: Content,
    pub staged_at: u64,
}

impl Record for BlockRecord {
    const SHAPE: u8 = 2;
    const NAME: &'static str = "uncommitted block";

    fn decode_older(shape: u8, fields: &[u8]) -> Option<Result<Self, postcard::Error>> {
        (shape == 1).then(|| postcard::from_bytes::<BlockRecordV1>(fields).map(Self::from))
    }
}

/// The shape of before blocks were contents of their own.
#[derive(Serialize, Deserialize)]
struct BlockRecordV1 {
    size: u64,
    pieces: Vec<Piece>,
    staged_at: u64,
}

impl From<BlockRecordV1> for BlockRecord {
    fn from(old: BlockRecordV1) -> Self {
        Self { content: v1::content(old.size, old.pieces), staged_at: old.staged_at }
    }
}

/// Says that a name has uncommitted blocks, and under which stage they are filed. Written by the first block
/// only, so that blocks uploaded side by side do not meet in one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedRecord {
    pub stage: ContentId,
    /// Length of the decoded block ids: all uncommitted blocks of a blob have the same.
    pub id_length: u8,
    pub created: u64,
    /// A lease taken while no committed blob exists.
    pub lease: Option<StoredLease>,
}

impl Record for StagedRecord {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "staged blob";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::content::{ListedBlock, Segment, Shape};

    fn stored<T: Serialize>(shape: u8, fields: &T) -> Vec<u8> {
        postcard::to_extend(fields, vec![shape]).expect("written")
    }

    #[test]
    fn records_of_the_first_shape_stay_readable() {
        let pieces = vec![Piece::Chunk { id: 7, len: 30 }, Piece::Inline { id: ContentId(9), len: 3 }];
        let content = Content { id: ContentId(7), length: 33, shape: Shape::Pieces(pieces.clone()) };
        let block = BlockRecordV1 { size: 33, pieces: pieces.clone(), staged_at: 5 };
        assert_eq!(
            BlockRecord::decode(&stored(1, &block)).expect("read"),
            BlockRecord { content: content.clone(), staged_at: 5 }
        );
        let listed = |pieces, size| v1::ListedBlock { name: vec![1], size, pieces, borrowed: true };
        let segment = v1::Segment { start: 4, blocks: vec![listed(pieces, 33), listed(vec![], 0)] };
        let name = vec![1];
        assert_eq!(
            Segment::decode(&stored(1, &segment)).expect("read"),
            Segment {
                start: 4,
                blocks: vec![
                    ListedBlock { name: name.clone(), content },
                    ListedBlock { name, content: Content::empty() }
                ]
            }
        );
        assert!(Segment::decode(&stored(3, &segment)).is_err(), "a shape of the future");
    }
}
