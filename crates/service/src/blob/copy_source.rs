//! What a copy reads: a blob of this server, or bytes that come from elsewhere.

use std::sync::Arc;

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{BlobType, ContentHeaders, CustomerKey};
use lazuli_model::metadata::Metadata;

use super::{BlobAddress, BlobRecord, BlobState};
use crate::Body;

pub enum CopySource {
    Own(OwnSource),
    Foreign(ForeignSource),
}

/// A blob of this server, or a snapshot or version of one, in any of its accounts. The caller may read it: that was found out before.
#[derive(Clone, Debug)]
pub struct OwnSource {
    pub account: Arc<str>,
    pub at: BlobAddress,
    pub state: BlobState,
    pub preconditions: Preconditions,
    pub customer_key: Option<CustomerKey>,
}

/// A source elsewhere, whose bytes are on their way. It has met the conditions of the request.
pub struct ForeignSource {
    pub headers: ContentHeaders,
    pub metadata: Metadata,
    pub body: Body,
    /// As the source announced it.
    pub length: u64,
    pub of: SourceType,
}

/// The type of a source, with what blobs of that type have beside their bytes.
#[derive(Clone, Copy, Debug)]
pub struct SourceType {
    pub kind: BlobType,
    /// Of a page blob.
    pub sequence_number: u64,
    /// Of an append blob.
    pub blocks: Option<u32>,
}

impl SourceType {
    pub const BLOCK: Self = Self { kind: BlobType::Block, sequence_number: 0, blocks: None };

    pub(super) fn of(blob: &BlobRecord) -> Self {
        Self { kind: blob.kind, sequence_number: blob.sequence_number, blocks: Some(blob.committed_blocks()) }
    }
}
