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

/// Says that a name has uncommitted blocks, and under which stage they are filed. Written by the first block,
/// and again at intervals, so that blocks uploaded side by side do not meet in one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedRecord {
    pub stage: ContentId,
    /// Length of the decoded block ids: all uncommitted blocks of a blob have the same.
    pub id_length: u8,
    pub created: Timestamp,
    /// When a block was last staged, some minutes less. Blocks that are staged soon after another do not write it.
    pub touched: Timestamp,
    /// A lease taken while no committed blob exists.
    pub lease: Option<Lease>,
    /// The key that the first block was staged with.
    pub customer_key: Option<CustomerKeyHash>,
    /// The encryption scope that it was staged under.
    pub encryption_scope: Option<String>,
}

/// So long uncommitted blocks are kept after the last of them was staged.
const KEPT_SECONDS: i64 = 7 * 24 * 60 * 60;
/// How far `touched` may be behind the last block.
const BEHIND_SECONDS: i64 = 10 * 60;

impl StagedRecord {
    /// Their time is over: they are gone for every request, whether or not the sweeper has been there.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.touched.plus_seconds(KEPT_SECONDS + BEHIND_SECONDS) <= now
    }

    /// A block that is staged now must say so.
    pub fn is_behind(&self, now: Timestamp) -> bool {
        self.touched.plus_seconds(BEHIND_SECONDS) <= now
    }
}

impl Record for StagedRecord {
    const NAME: &'static str = "staged blob";
    type Newest = stored::block::StagedV2;
}
