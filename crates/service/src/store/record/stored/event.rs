//! An event that is to be delivered.

use lazuli_model::etag::ETag;
use lazuli_model::event::EventType;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::blob::{BlobTypeV1, TierV1};
use super::{first_shape, same_variants};
use crate::store::record::event::EventRow;

#[derive(Serialize, Deserialize)]
pub struct EventV1 {
    id: u128,
    kind: EventTypeV1,
    raised: u64,
    account: String,
    container: String,
    blob: String,
    api: String,
    request_id: u128,
    client_request_id: Option<String>,
    endpoint: String,
    etag: u64,
    content_type: Option<String>,
    content_length: u64,
    blob_type: BlobTypeV1,
    tier: Option<TierV1>,
    sequence: u64,
    tries: u32,
}

first_shape!(EventV1);

#[derive(Serialize, Deserialize)]
enum EventTypeV1 {
    BlobCreated,
    BlobDeleted,
}

same_variants!(EventTypeV1, EventType { BlobCreated, BlobDeleted });

impl From<&EventRow> for EventV1 {
    fn from(row: &EventRow) -> Self {
        let row = row.clone();
        Self {
            id: row.id.as_u128(),
            kind: row.kind.into(),
            raised: row.raised.0,
            account: row.account,
            container: row.container,
            blob: row.blob,
            api: row.api,
            request_id: row.request_id.as_u128(),
            client_request_id: row.client_request_id,
            endpoint: row.endpoint,
            etag: row.etag.0,
            content_type: row.content_type,
            content_length: row.content_length,
            blob_type: row.blob_type.into(),
            tier: row.tier.map(Into::into),
            sequence: row.sequence,
            tries: row.tries,
        }
    }
}

impl From<EventV1> for EventRow {
    fn from(stored: EventV1) -> Self {
        Self {
            id: Uuid::from_u128(stored.id),
            kind: stored.kind.into(),
            raised: Timestamp(stored.raised),
            account: stored.account,
            container: stored.container,
            blob: stored.blob,
            api: stored.api,
            request_id: Uuid::from_u128(stored.request_id),
            client_request_id: stored.client_request_id,
            endpoint: stored.endpoint,
            etag: ETag(stored.etag),
            content_type: stored.content_type,
            content_length: stored.content_length,
            blob_type: stored.blob_type.into(),
            tier: stored.tier.map(Into::into),
            sequence: stored.sequence,
            tries: stored.tries,
        }
    }
}
