//! Blocks that are uploaded and not yet committed.

use lazuli_model::admission::lease::Lease;
use lazuli_model::blob::CustomerKeyHash;
use lazuli_model::time::Timestamp;

use super::content::Content;
use super::{Record, stored};
use crate::store::key::ContentId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRecord {
    pub content: Content,
    pub staged_at: Timestamp,
}

impl Record for BlockRecord {
    const NAME: &'static str = "uncommitted block";
    type Newest = stored::block::BlockV2;
}

/// Says that a name has uncommitted blocks, and under which stage they are filed. Written by the first block
/// only, so that blocks uploaded side by side do not meet in one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedRecord {
    pub stage: ContentId,
    /// Length of the decoded block ids: all uncommitted blocks of a blob have the same.
    pub id_length: u8,
    pub created: Timestamp,
    /// A lease taken while no committed blob exists.
    pub lease: Option<Lease>,
    /// The key that the first block was staged with.
    pub customer_key: Option<CustomerKeyHash>,
    /// The encryption scope that it was staged under.
    pub encryption_scope: Option<String>,
}

impl Record for StagedRecord {
    const NAME: &'static str = "staged blob";
    type Newest = stored::block::StagedV2;
}
