//! Queues and messages: found, made, taken, changed, ended.

mod count;
pub(super) mod expiry;
mod head_cache;
mod message;
mod queue_cache;

pub use expiry::delete_all as delete_expired;
pub(super) use head_cache::Share;
pub(crate) use queue_cache::{Claim, QueueCache, QueueCaches};

pub use super::record::queue::{MessageRecord, QueueRecord, Slot};

use lazuli_engine::Value;
use lazuli_model::admission::queue::{PopReceipt, admit_message};
use lazuli_model::admission::{self, Circumstances, admit_name};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Mode, Policy};
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::by_name::ByName;
use super::found::{Admitted, Found, Present, Resource};
use super::key::{self, Generation};
use super::record::Record;
use super::record::queue::MessageFields;
use super::unit::{Changes, Unit, View};
use crate::fault::Answer;
use crate::queue::ListQueues;
use crate::shared::marker::Position;
use crate::{Context, Services};

/// The name of a queue in the account of the unit.
pub struct QueuePlace {
    name: String,
}

impl Resource for QueueRecord {
    type Given = ();
    type Place = QueuePlace;

    const NOT_FOUND: ErrorCode = ErrorCode::QueueNotFound;

    fn judge(
        policy: &Policy,
        (): &(),
        found: Option<Self>,
        circumstances: Circumstances,
    ) -> Result<admission::Admitted<Self>, Failure> {
        admit_name(policy, found, circumstances.now, Self::NOT_FOUND)
    }
}

/// Where a message stands.
pub struct MessagePlace {
    messages: Generation,
    /// The slot in which it was found.
    slot: Option<Slot>,
}

/// A receipt is what a request shows for a message.
impl Resource for MessageRecord {
    type Given = PopReceipt;
    type Place = MessagePlace;

    const NOT_FOUND: ErrorCode = ErrorCode::MessageNotFound;

    fn judge(
        _: &Policy,
        given: &PopReceipt,
        found: Option<Self>,
        circumstances: Circumstances,
    ) -> Result<admission::Admitted<Self>, Failure> {
        admit_message(*given, found, circumstances.now)
    }
}

impl<M: Mode> Unit<M> {
    /// The queue of an operation. The read is a check of the commit: nothing is written into a queue that was deleted
    /// or cleared meanwhile.
    pub async fn queue(&self, name: &str) -> Answer<Found<QueueRecord, M>> {
        let record = match self.reader().get(key::queue(self.account(), name)).await? {
            Some(entry) => Some(QueueRecord::decode(&entry.value)?),
            None => None,
        };
        if let Some(record) = &record {
            let name = || key::queue(self.account(), name);
            self.services().generations().learn(self.reader(), name, record.messages);
        }
        Ok(Found::new(self.clone(), QueuePlace { name: name.to_owned() }, record))
    }
}

impl Services {
    /// The messages of a queue as they were last read, where reading takes a round trip. A commit finds out whether they
    /// still are.
    pub(crate) fn known_messages(&self, context: &Context, queue: &str) -> Option<Generation> {
        self.generations().known(&key::queue(&context.account, queue))
    }
}

impl Unit {
    /// The queue is read together with messages of it.
    pub(crate) async fn near_queue_and_messages(
        &self,
        queue: &str,
        messages: Generation,
        ids: impl IntoIterator<Item = u128>,
    ) -> Answer<()> {
        let keys = || {
            let queue = key::queue(self.account(), queue);
            ids.into_iter().map(|id| key::message(messages, id)).chain([queue]).collect()
        };
        Ok(self.reader().near(keys).await?)
    }
}

impl View {
    /// A page of the account's queues.
    pub(crate) async fn queues(
        &self,
        request: &ListQueues,
    ) -> Answer<(Vec<(String, QueueRecord)>, Option<Position>)> {
        let listing = ByName {
            space: key::queues(self.account()),
            prefix: &request.prefix,
            marker: request.marker.as_ref(),
            max_results: request.max_results,
            max_bytes: request.max_bytes,
        };
        listing.page(self.reader()).await
    }

    /// These messages will be looked at: they are read together.
    pub(crate) async fn near_messages(
        &self,
        messages: Generation,
        ids: impl IntoIterator<Item = u128>,
    ) -> Answer<()> {
        let keys = || ids.into_iter().map(|id| key::message(messages, id)).collect();
        Ok(self.reader().near(keys).await?)
    }

    /// The message of this slot with its text, if it stands there and has not expired.
    pub(crate) async fn peek_message(
        &self,
        messages: Generation,
        slot: &Slot,
    ) -> Answer<Option<(MessageRecord, String)>> {
        match message::find(self.reader(), messages, slot.id).await? {
            Some(found) if found.slot() == *slot && !found.is_expired(self.now()) => {
                let text = message::read_text(self.reader(), &found.fields.text).await?;
                Ok(Some((found, text)))
            }
            _ => Ok(None),
        }
    }
}

impl Admitted<QueueRecord> {
    /// Makes the queue. Where there is one already, the request is told so, unless it asks for the same: false then.
    pub fn create(mut self, metadata: &Metadata) -> Result<bool, Failure> {
        if let Some(queue) = self.record() {
            return match queue.metadata.same_as(metadata) {
                true => Ok(false),
                false => Err(ErrorCode::QueueAlreadyExists.into()),
            };
        }
        let now = self.unit.now();
        let fields = QueueRecord {
            messages: Generation::new(now.0, rand::random()),
            created: now,
            metadata: metadata.clone(),
            policies: Vec::new(),
        };
        self.unit.put(key::queue(self.unit.account(), &self.place.name), fields.encode());
        Ok(true)
    }
}

impl<M: Mode> Present<QueueRecord, M> {
    /// The message with this id.
    pub async fn message(&self, id: Uuid) -> Answer<Found<MessageRecord, M>> {
        let record = message::find(self.unit.reader(), self.messages, id.as_u128()).await?;
        let slot = record.as_ref().map(MessageRecord::slot);
        Ok(Found::new(self.unit.clone(), MessagePlace { messages: self.messages, slot }, record))
    }
}

impl Present<QueueRecord> {
    pub fn put(mut self) {
        self.unit.put(key::queue(self.unit.account(), &self.place.name), self.record.encode());
    }

    /// Ends the queue; the sweeper deletes its messages. Gives the generation that ended.
    pub fn delete(mut self) -> Generation {
        self.unit.delete(key::queue(self.unit.account(), &self.place.name));
        self.end_messages()
    }

    /// The queue goes on with a new generation of messages. Gives the one that ended.
    pub fn clear(mut self) -> Generation {
        let ended = self.end_messages();
        self.record.messages = Generation::new(self.unit.now().0, rand::random());
        self.put();
        ended
    }

    fn end_messages(&mut self) -> Generation {
        let ended = self.record.messages;
        self.unit.put(key::dead_generation(ended), Value::new());
        ended
    }

    /// Files a new message with this text.
    pub fn insert(&mut self, id: Uuid, new: NewMessage, text: &str) -> MessageRecord {
        let now = self.unit.now();
        insert(&mut self.unit, self.record.messages, id, new, text, now)
    }

    /// The message of this slot, for the one consumer that gets it. None when it is no longer there.
    pub async fn take(&self, slot: &Slot) -> Answer<Option<Present<MessageRecord>>> {
        let found = message::find(self.unit.reader(), self.messages, slot.id).await?;
        // By the time of this unit: that of the cache may be ahead of it.
        let now = self.unit.now();
        let is_there = |found: &MessageRecord| {
            found.slot() == *slot && found.fields.visible <= now.0 && !found.is_expired(now)
        };
        Ok(found.filter(is_there).map(|record| Present {
            unit: self.unit.clone(),
            place: MessagePlace { messages: self.messages, slot: Some(*slot) },
            policy: self.policy,
            record,
        }))
    }
}

/// Files a new message in the queue that has these messages.
pub(super) fn insert<W: Changes>(
    plan: &mut W,
    messages: Generation,
    id: Uuid,
    new: NewMessage,
    text: &str,
    now: Timestamp,
) -> MessageRecord {
    let fields = MessageFields {
        inserted: now.0,
        expires: new.expires.map(|at| at.0),
        visible: new.visible.0,
        receipt: new.receipt,
        dequeue_count: 0,
        text: message::put_text(plan, text, now),
    };
    let record = MessageRecord { id, fields };
    message::put(plan, messages, &record);
    record
}

/// What a new message is given.
pub struct NewMessage {
    /// None for never.
    pub expires: Option<Timestamp>,
    pub visible: Timestamp,
    pub receipt: u64,
}

impl<M: Mode> Present<MessageRecord, M> {
    pub async fn text(&self) -> Answer<String> {
        message::read_text(self.unit.reader(), &self.fields.text).await
    }
}

impl Present<MessageRecord> {
    pub fn set_text(&mut self, text: &str) {
        message::delete_text(&mut self.unit, &self.record.fields.text);
        let now = self.unit.now();
        self.record.fields.text = message::put_text(&mut self.unit, text, now);
    }

    /// Writes the message and moves it to the slot that it now belongs to.
    pub fn put(mut self) -> MessageRecord {
        if let Some(slot) = self.place.slot {
            message::leave_slot(&mut self.unit, self.place.messages, slot);
        }
        message::put(&mut self.unit, self.place.messages, &self.record);
        self.record
    }

    pub fn delete(mut self) -> MessageRecord {
        message::delete(&mut self.unit, self.place.messages, &self.record);
        self.record
    }
}
