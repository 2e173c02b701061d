//! Queues and messages.

use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::container::AccessPolicyV1;
use super::first_shape;
use crate::store::key::{ContentId, Generation};
use crate::store::record::queue::{MessageFields, QueueRecord, Text};

#[derive(Serialize, Deserialize)]
pub struct QueueV1 {
    messages: Generation,
    created: u64,
    metadata: Vec<(String, String)>,
    policies: Vec<AccessPolicyV1>,
}

#[derive(Serialize, Deserialize)]
pub struct MessageV1 {
    inserted: u64,
    expires: Option<u64>,
    visible: u64,
    receipt: u64,
    dequeue_count: u32,
    text: TextV1,
}

#[derive(Serialize, Deserialize)]
enum TextV1 {
    Inline(String),
    Apart(ContentId),
}

first_shape!(QueueV1, MessageV1);

impl From<&QueueRecord> for QueueV1 {
    fn from(queue: &QueueRecord) -> Self {
        let QueueRecord { messages, created, metadata, policies } = queue;
        Self {
            messages: *messages,
            created: created.0,
            metadata: metadata.clone().into_pairs(),
            policies: AccessPolicyV1::all(policies),
        }
    }
}

impl From<QueueV1> for QueueRecord {
    fn from(stored: QueueV1) -> Self {
        Self {
            messages: stored.messages,
            created: Timestamp(stored.created),
            metadata: Metadata::from_stored(stored.metadata),
            policies: AccessPolicyV1::read(stored.policies),
        }
    }
}

impl From<&MessageFields> for MessageV1 {
    fn from(message: &MessageFields) -> Self {
        let MessageFields { inserted, expires, visible, receipt, dequeue_count, text } = message;
        Self {
            inserted: *inserted,
            expires: *expires,
            visible: *visible,
            receipt: *receipt,
            dequeue_count: *dequeue_count,
            text: match text {
                Text::Inline(text) => TextV1::Inline(text.clone()),
                Text::Apart(content) => TextV1::Apart(*content),
            },
        }
    }
}

impl From<MessageV1> for MessageFields {
    fn from(stored: MessageV1) -> Self {
        Self {
            inserted: stored.inserted,
            expires: stored.expires,
            visible: stored.visible,
            receipt: stored.receipt,
            dequeue_count: stored.dequeue_count,
            text: match stored.text {
                TextV1::Inline(text) => Text::Inline(text),
                TextV1::Apart(content) => Text::Apart(content),
            },
        }
    }
}
