//! Messages in XML: the QueueMessage that comes in, the QueueMessagesList that goes out.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use lazuli_service::queue::Delivered;
use lazuli_service::{Body, Services};

use crate::xml::{self, Writer, refuse_element};

/// Bytes of the text, decoded.
pub const TEXT_LIMIT: usize = 64 * 1024;
/// The same text as XML, when every character of it is written as a reference.
const BODY_LIMIT: usize = 10 * TEXT_LIMIT;

/// The text of the message in the body. None for no body at all.
pub async fn read(services: &Services, body: Body) -> Result<Option<String>, Failure> {
    let document = match body.collect(BODY_LIMIT, services).await.map_err(Failure::from) {
        Err(failure) if failure.code == ErrorCode::RequestBodyTooLarge => return Err(too_large()),
        document => document?,
    };
    if document.is_empty() {
        return Ok(None);
    }
    services.compute(document.len(), move || parse(&document)).await?.map(Some)
}

/// The text is kept to the last blank; what it means is the clients' affair.
pub fn parse(document: &[u8]) -> Result<String, Failure> {
    let root = xml::parse(document)?;
    let text = root.child("MessageText").filter(|_| root.name == "QueueMessage");
    let Some(text) = text else { return Err(refuse_element(document, &root, "")) };
    // A character by number may be one that no answer could hold.
    if !text.children.is_empty() || !xml::is_legal(&text.text) {
        return Err(refuse_element(document, text, "Error parsing Xml content"));
    }
    if text.text.len() > TEXT_LIMIT {
        return Err(too_large());
    }
    Ok(text.text.clone())
}

fn too_large() -> Failure {
    Failure::new(ErrorCode::RequestBodyTooLarge).detail("MaxLimit", TEXT_LIMIT.to_string())
}

/// Which parts of a message an answer shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Put,
    Got,
    Peeked,
}

pub fn write(messages: &[Delivered], shown: Shown) -> String {
    let mut writer = Writer::new();
    if messages.is_empty() {
        writer.empty("QueueMessagesList");
        return writer.finish();
    }
    writer.open("QueueMessagesList");
    for message in messages {
        writer.open("QueueMessage");
        writer.element("MessageId", &message.id.to_string());
        writer.element("InsertionTime", &message.inserted.rfc1123());
        // Never is the last second that the calendar has.
        writer.element("ExpirationTime", &message.expires.unwrap_or(Timestamp::MAX).rfc1123());
        if shown != Shown::Peeked {
            writer.element("PopReceipt", &message.receipt.print());
            writer.element("TimeNextVisible", &message.next_visible.rfc1123());
        }
        if shown != Shown::Put {
            writer.number("DequeueCount", u64::from(message.dequeue_count));
            writer.element("MessageText", &message.text);
        }
        writer.close("QueueMessage");
    }
    writer.close("QueueMessagesList");
    writer.finish()
}

#[cfg(test)]
mod tests;
