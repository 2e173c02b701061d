//! How the copies of whole blobs differ, and what they become.

use lazuli_model::blob::BlobType;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Op, WritingOp};

use super::write::refuse_archived;
use crate::store::CopyMark;
use crate::store::record::existing::Existing;

/// How the three operations differ.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// The answer tells a hash of the bytes.
    pub tells_hash: bool,
    pub keeps_blocks: bool,
    pub marks: bool,
    pub creates: bool,
    pub may_be_pending: bool,
    /// The source may be archived, where the copy is not.
    pub rehydrates: bool,
    of: SourceTypes,
}

/// Which sources an operation takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SourceTypes {
    /// All; the copy is of the type of its source.
    Same,
    /// Block blobs.
    Block,
    /// All; the copy is a block blob.
    Any,
}

impl Form {
    pub fn of(op: WritingOp) -> Self {
        let is = |wanted: Op| op.op() == wanted;
        Self {
            tells_hash: !is(Op::CopyBlob),
            keeps_blocks: !is(Op::PutBlobFromUrl),
            marks: !is(Op::PutBlobFromUrl),
            creates: is(Op::CopyBlobFromUrl),
            may_be_pending: is(Op::CopyBlob),
            rehydrates: is(Op::CopyBlob),
            of: match op.op() {
                Op::CopyBlob => SourceTypes::Same,
                Op::CopyBlobFromUrl => SourceTypes::Block,
                _ => SourceTypes::Any,
            },
        }
    }

    /// The type of the copy, or why there is none.
    pub fn kind(self, source: BlobType) -> Result<BlobType, Failure> {
        match (self.of, source) {
            (SourceTypes::Same, kind) => Ok(kind),
            (SourceTypes::Any, _) | (SourceTypes::Block, BlobType::Block) => Ok(BlobType::Block),
            (SourceTypes::Block, BlobType::Page | BlobType::Append) => {
                Err(ErrorCode::InvalidSourceBlobType.into())
            }
        }
    }
}

/// What the copy becomes.
#[derive(Clone)]
pub(crate) struct Target {
    pub kind: BlobType,
    pub mark: CopyMark,
}

/// A blob never changes its type.
pub(super) fn check_target(existing: Option<&Existing>, kind: BlobType) -> Result<(), Failure> {
    match existing {
        Some(Existing::Blob(blob)) if blob.kind != kind => Err(ErrorCode::InvalidBlobType.into()),
        Some(Existing::Blob(blob)) => refuse_archived(blob),
        _ => Ok(()),
    }
}
