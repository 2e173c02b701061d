//! An event that is to be delivered.

use lazuli_model::blob::{BlobType, Tier};
use lazuli_model::etag::ETag;
use lazuli_model::event::EventType;
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::{Record, stored};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    pub id: Uuid,
    pub kind: EventType,
    pub raised: Timestamp,
    pub account: String,
    pub container: String,
    pub blob: String,
    /// The operation, as events call it.
    pub api: String,
    pub request_id: Uuid,
    pub client_request_id: Option<String>,
    /// What the addresses of the account's containers begin with.
    pub endpoint: String,
    pub etag: ETag,
    pub content_type: Option<String>,
    pub content_length: u64,
    pub blob_type: BlobType,
    /// That was set on the blob.
    pub tier: Option<Tier>,
    /// Larger than that of every earlier event of the name.
    pub sequence: u64,
    /// Deliveries that failed.
    pub tries: u32,
}

impl Record for EventRow {
    const NAME: &'static str = "event";
    type Newest = stored::event::EventV1;
}
