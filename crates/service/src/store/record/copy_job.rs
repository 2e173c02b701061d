//! A copy under way: which server moves its bytes, and what another one needs to know that takes it up.

use std::sync::Arc;

use lazuli_model::blob::BlobType;
use lazuli_model::etag::ETag;
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::{Record, stored};
use crate::blob::{BlobAddress, BlobState, ForeignAddress};
use crate::event::Cause;
use crate::store::key::{Generation, Incarnation};
use crate::store::tree::NodeId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyJob {
    pub id: Uuid,
    pub account: String,
    pub to: CopiedTo,
    /// Whose it is; None between two tries. The job is lost when the server is dead, whatever the clock says.
    pub server: Option<Incarnation>,
    /// The try that is under way, or was last. Only this one may write.
    pub tries: u32,
    /// Of the first try.
    pub began: Timestamp,
    /// A job without a server is taken up from then on.
    pub due: Timestamp,
    /// None: it cannot be begun again.
    pub plan: Option<CopyPlan>,
}

/// What the copy is writing. A file is known by its node: the directories above it may be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopiedTo {
    Blob { container: String, generation: Generation, blob: String },
    File { share: String, generation: Generation, node: NodeId },
}

impl CopyJob {
    /// Whether this is the same try of the same copy.
    pub fn is_try(&self, other: &Self) -> bool {
        (self.id, self.server, self.tries) == (other.id, other.server, other.tries)
    }
}

/// What a copy is made from, and what becomes of it. The bytes of a file lie as those of a page blob do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyPlan {
    pub source: CopiedFrom,
    pub length: u64,
    pub kind: BlobType,
    /// Of a page blob.
    pub sequence_number: u64,
    /// Of an append blob.
    pub seals: bool,
    pub blocks: Option<u32>,
    /// The request, for the event that tells of the copy.
    pub cause: Option<Arc<Cause>>,
}

/// A source must be the same when it is read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopiedFrom {
    Own { account: String, at: BlobAddress, state: BlobState, etag: ETag },
    Foreign(ForeignAddress),
}

impl Record for CopyJob {
    const NAME: &'static str = "copy job";
    type Newest = stored::copy_job::CopyJobV3;
}
