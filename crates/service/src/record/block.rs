//! Blocks that are uploaded and not yet committed.

use serde::{Deserialize, Serialize};

use super::Record;
use super::content::Piece;
use super::lease::StoredLease;
use crate::key::ContentId;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRecord {
    pub size: u64,
    pub pieces: Vec<Piece>,
    pub staged_at: u64,
}

impl Record for BlockRecord {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "uncommitted block";
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
