//! A queue and its messages.

use lazuli_model::access::AccessPolicy;
use lazuli_model::admission::queue::{Message, PopReceipt};
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::{Record, stored};
use crate::store::key::{ContentId, Generation};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRecord {
    /// What the messages are filed under. Clear Messages begins a new one.
    pub messages: Generation,
    pub created: Timestamp,
    pub metadata: Metadata,
    pub policies: Vec<AccessPolicy>,
}

impl Record for QueueRecord {
    const NAME: &'static str = "queue";
    type Newest = stored::queue::QueueV1;
}

/// Every Get rewrites the record: what is longer than a page of it stands apart and stays where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    Inline(String),
    Apart(ContentId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFields {
    pub inserted: u64,
    /// None for a message that never expires.
    pub expires: Option<u64>,
    pub visible: u64,
    /// When the newest receipt was issued; grows with every one.
    pub receipt: u64,
    pub dequeue_count: u32,
    pub text: Text,
}

impl Record for MessageFields {
    const NAME: &'static str = "message";
    type Newest = stored::queue::MessageV1;
}

/// A message's place in the order of its queue. Two messages that become visible at the same moment come in the
/// order in which they were put or last got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    pub visible: u64,
    pub receipt: u64,
    pub id: u128,
}

impl Slot {
    pub const FIRST: Slot = Slot { visible: 0, receipt: 0, id: 0 };

    /// Before everything that becomes visible at this moment or later.
    pub fn at(visible: u64) -> Self {
        Self { visible, ..Self::FIRST }
    }
}

/// A message as the operations see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    pub id: Uuid,
    pub fields: MessageFields,
}

impl MessageRecord {
    pub fn slot(&self) -> Slot {
        Slot { visible: self.fields.visible, receipt: self.fields.receipt, id: self.id.as_u128() }
    }

    pub fn receipt(&self) -> PopReceipt {
        PopReceipt::issue(self.id, Timestamp(self.fields.receipt))
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.fields.expires.is_some_and(|expires| expires <= now.0)
    }
}

impl Message for MessageRecord {
    fn id(&self) -> Uuid {
        self.id
    }

    fn receipt_issued(&self) -> Timestamp {
        Timestamp(self.fields.receipt)
    }

    fn expires(&self) -> Option<Timestamp> {
        self.fields.expires.map(Timestamp)
    }
}
