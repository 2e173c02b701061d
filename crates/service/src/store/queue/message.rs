//! Messages as they are stored: a record, a slot in the order of the queue, and a text beside them if it is long.

use bytes::Bytes;
use lazuli_engine::Reader;
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use crate::fault::Answer;
use crate::store::key::{self, ContentId, Generation};
use crate::store::queue::queue_cache::{NEVER, slot_key};
use crate::store::record::Record;
use crate::store::record::queue::{MessageFields, MessageRecord, Slot, Text};
use crate::store::unit::Changes;

/// Longer texts are not copied with every Get.
const INLINE: usize = 2048;

pub fn message_id(key: &[u8]) -> Option<Uuid> {
    Some(Uuid::from_bytes(key.get(key::VISIBLE_AT..)?.try_into().ok()?))
}

pub async fn find(reader: &Reader, messages: Generation, id: u128) -> Answer<Option<MessageRecord>> {
    Ok(match reader.get(key::message(messages, id)).await? {
        Some(entry) => {
            Some(MessageRecord { id: Uuid::from_u128(id), fields: MessageFields::decode(&entry.value)? })
        }
        None => None,
    })
}

/// Writes a message that is new, or moves one that was taken out of its old slot.
pub fn put<W: Changes>(plan: &mut W, messages: Generation, record: &MessageRecord) {
    let expires = record.fields.expires.unwrap_or(NEVER);
    plan.put(key::message(messages, record.id.as_u128()), record.fields.encode());
    plan.put(slot_key(messages, record.slot()), expires.to_be_bytes().to_vec().into());
}

/// Takes a message out of its slot, to be put back into another.
pub fn leave_slot<W: Changes>(plan: &mut W, messages: Generation, slot: Slot) {
    plan.delete_without_trace(slot_key(messages, slot));
}

pub fn delete<W: Changes>(plan: &mut W, messages: Generation, record: &MessageRecord) {
    plan.delete_without_trace(key::message(messages, record.id.as_u128()));
    leave_slot(plan, messages, record.slot());
    delete_text(plan, &record.fields.text);
}

pub fn put_text<W: Changes>(plan: &mut W, text: &str, now: Timestamp) -> Text {
    if text.len() <= INLINE {
        return Text::Inline(text.to_owned());
    }
    let content = ContentId::fresh(now);
    plan.put_private(key::inline(content), Bytes::copy_from_slice(text.as_bytes()));
    Text::Apart(content)
}

pub fn delete_text<W: Changes>(plan: &mut W, text: &Text) {
    if let Text::Apart(content) = text {
        plan.delete_private(key::inline(*content));
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
