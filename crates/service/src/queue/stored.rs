//! Queues and messages as the operations read and write them. Nothing else touches their keys.

use bytes::Bytes;
use lazuli_engine::{Plan, Reader};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::hand::{NEVER, slot_key};
use crate::fault::Answer;
use crate::key::{self, ContentId, Generation};
use crate::record::Record;
use crate::record::queue::{MessageFields, MessageRecord, QueueFields, Text};

/// Longer texts are not copied with every Get.
const INLINE: usize = 2048;

pub async fn find_queue(reader: &Reader, account: &str, name: &str) -> Answer<Option<QueueFields>> {
    Ok(match reader.get(key::queue(account, name)).await? {
        Some(entry) => Some(QueueFields::decode(&entry.value)?),
        None => None,
    })
}

/// The queue of an operation. The read is a check of the commit: nothing is written into a queue that was deleted
/// or cleared meanwhile.
pub async fn queue(reader: &Reader, account: &str, name: &str) -> Answer<QueueFields> {
    Ok(find_queue(reader, account, name).await?.ok_or(ErrorCode::QueueNotFound)?)
}

pub fn put_queue<T>(plan: &mut Plan<T>, account: &str, name: &str, fields: &QueueFields) {
    plan.put(key::queue(account, name), fields.encode());
}

pub fn message(id: Uuid, fields: MessageFields) -> MessageRecord {
    MessageRecord { id, fields }
}

pub fn message_id(key: &[u8]) -> Option<Uuid> {
    Some(Uuid::from_bytes(key.get(key::VISIBLE_AT..)?.try_into().ok()?))
}

pub async fn find_message(reader: &Reader, messages: Generation, id: u128) -> Answer<Option<MessageRecord>> {
    Ok(match reader.get(key::message(messages, id)).await? {
        Some(entry) => Some(message(Uuid::from_u128(id), MessageFields::decode(&entry.value)?)),
        None => None,
    })
}

/// Writes a message that is new, or moves one that was taken out of its old slot.
pub fn put_message<T>(plan: &mut Plan<T>, messages: Generation, record: &MessageRecord) {
    let expires = record.fields.expires.unwrap_or(NEVER);
    plan.put(key::message(messages, record.id.as_u128()), record.fields.encode());
    plan.put(slot_key(messages, record.slot()), expires.to_be_bytes().to_vec());
}

/// Takes a message out of its slot, to be put back into another.
pub fn leave_slot<T>(plan: &mut Plan<T>, messages: Generation, record: &MessageRecord) {
    plan.delete(slot_key(messages, record.slot()));
}

pub fn delete_message<T>(plan: &mut Plan<T>, messages: Generation, record: &MessageRecord) {
    plan.delete(key::message(messages, record.id.as_u128()));
    leave_slot(plan, messages, record);
    delete_text(plan, &record.fields.text);
}

pub fn put_text<T>(plan: &mut Plan<T>, text: &str, now: Timestamp) -> Text {
    if text.len() <= INLINE {
        return Text::Inline(text.to_owned());
    }
    let content = ContentId::fresh(now);
    plan.put(key::inline(content), Bytes::copy_from_slice(text.as_bytes()));
    Text::Apart(content)
}

pub fn delete_text<T>(plan: &mut Plan<T>, text: &Text) {
    if let Text::Apart(content) = text {
        plan.delete(key::inline(*content));
    }
}

/// At the snapshot of the record that names it.
pub async fn read_text(reader: &Reader, text: &Text) -> Answer<String> {
    let content = match text {
        Text::Inline(text) => return Ok(text.clone()),
        Text::Apart(content) => *content,
    };
    let entry = reader.get_untracked(key::inline(content)).await?.ok_or(ErrorCode::InternalError)?;
    Ok(String::from_utf8(entry.value.to_vec()).map_err(|_| ErrorCode::InternalError)?)
}
