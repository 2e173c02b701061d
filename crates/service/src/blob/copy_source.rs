//! What a copy reads: a blob of this server, or bytes that come from elsewhere.

use std::sync::Arc;

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{ContentHeaders, CustomerKey};
use lazuli_model::metadata::Metadata;

use super::{BlobAddress, BlobState};
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
}
