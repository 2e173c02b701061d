//! Uncommitted blocks, and the mark that a name has some.

use lazuli_model::blob::CustomerKeyHash;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::content::{ContentV1, PieceV1};
use super::lease::LeaseV1;
use super::{Shape, first_shape};
use crate::store::key::ContentId;
use crate::store::record::block::{BlockRecord, StagedRecord};

/// A block had no content of its own.
#[derive(Serialize, Deserialize)]
pub struct BlockV1 {
    pub size: u64,
    pub pieces: Vec<PieceV1>,
    pub staged_at: u64,
}

#[derive(Serialize, Deserialize)]
pub struct BlockV2 {
    content: ContentV1,
    staged_at: u64,
}

#[derive(Serialize, Deserialize)]
pub struct StagedV1 {
    stage: ContentId,
    id_length: u8,
    created: u64,
    lease: Option<LeaseV1>,
}

first_shape!(BlockV1, StagedV1);

impl Shape for BlockV2 {
    const NUMBER: u8 = 2;
    type Before = BlockV1;

    fn step(before: BlockV1) -> Self {
        Self { content: ContentV1::of_block(before.size, before.pieces), staged_at: before.staged_at }
    }
}

impl From<&BlockRecord> for BlockV2 {
    fn from(block: &BlockRecord) -> Self {
        let BlockRecord { content, staged_at } = block;
        Self { content: content.into(), staged_at: staged_at.0 }
    }
}

impl From<BlockV2> for BlockRecord {
    fn from(stored: BlockV2) -> Self {
        Self { content: stored.content.into(), staged_at: Timestamp(stored.staged_at) }
    }
}

/// With the key that its blocks were staged with, and when the last of them was.
#[derive(Serialize, Deserialize)]
pub struct StagedV2 {
    base: StagedV1,
    customer_key: Option<[u8; 32]>,
    encryption_scope: Option<String>,
    touched: u64,
}

impl Shape for StagedV2 {
    const NUMBER: u8 = 2;
    type Before = StagedV1;

    fn step(base: StagedV1) -> Self {
        let touched = base.created;
        Self { base, customer_key: None, encryption_scope: None, touched }
    }
}

impl From<&StagedRecord> for StagedV2 {
    fn from(staged: &StagedRecord) -> Self {
        let StagedRecord { stage, id_length, created, touched, lease, customer_key, encryption_scope } =
            staged;
        let base = StagedV1 {
            stage: *stage,
            id_length: *id_length,
            created: created.0,
            lease: lease.as_ref().map(LeaseV1::from),
        };
        let (customer_key, encryption_scope) = (customer_key.map(|hash| hash.0), encryption_scope.clone());
        Self { base, customer_key, encryption_scope, touched: touched.0 }
    }
}

impl From<StagedV2> for StagedRecord {
    fn from(StagedV2 { base, customer_key, encryption_scope, touched }: StagedV2) -> Self {
        Self {
            stage: base.stage,
            id_length: base.id_length,
            created: Timestamp(base.created),
            touched: Timestamp(touched),
            lease: base.lease.map(Into::into),
            customer_key: customer_key.map(CustomerKeyHash),
            encryption_scope,
        }
    }
}
