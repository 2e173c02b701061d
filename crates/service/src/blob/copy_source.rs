//! What a copy reads: a blob or file of this server, or bytes that come from elsewhere.

use std::sync::Arc;

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{BlobType, ContentHeaders, CustomerKey};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;

use super::{BlobAddress, BlobRecord, BlobState};
use crate::Body;
use crate::download::Origin;
use crate::file::FileAddress;

pub enum CopySource {
    Own(OwnSource),
    File(FileSource),
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

impl OwnSource {
    /// Where its record, which was found with this ETag, is found again.
    pub(crate) fn origin(&self, etag: ETag) -> Origin<'_> {
        Origin::Blob { account: &self.account, at: &self.at, state: self.state, etag }
    }
}

impl FileSource {
    pub(crate) fn origin(&self, etag: ETag) -> Origin<'_> {
        Origin::File { account: &self.account, at: &self.at, etag }
    }
}

/// A file of this server, or what it was in a snapshot of its share, in any of its accounts. The caller may read it.
#[derive(Clone, Debug)]
pub struct FileSource {
    pub account: Arc<str>,
    pub at: FileAddress,
    pub preconditions: Preconditions,
}

/// A source elsewhere, whose bytes are on their way. It has met the conditions of the request.
pub struct ForeignSource {
    pub headers: ContentHeaders,
    pub metadata: Metadata,
    pub body: Body,
    /// As the source announced it.
    pub length: u64,
    pub of: SourceType,
    /// Where the same bytes are found again; None where they are not.
    pub again: Option<ForeignAddress>,
}

/// How a source elsewhere is asked for again. The URL may hold a signature: it is kept with the job of the copy, and no
/// longer.
#[derive(Clone, PartialEq, Eq)]
pub struct ForeignAddress {
    pub url: String,
    /// The version that the source was asked with.
    pub version: String,
    /// What the source called its state.
    pub etag: Option<String>,
}

/// A signature is in no log.
impl std::fmt::Debug for ForeignAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let address = self.url.split('?').next().unwrap_or_default();
        f.debug_struct("ForeignAddress").field("address", &address).finish_non_exhaustive()
    }
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
