//! The Queue service, one file an operation.

mod access;
mod clear_messages;
mod create_queue;
mod delete_message;
mod delete_queue;
mod get_messages;
mod get_queue_metadata;
mod list_queues;
mod peek_messages;
mod put_message;
mod set_queue_acl;
mod set_queue_metadata;
mod to_the_end;
mod update_message;

pub use access::queue_access;
pub use clear_messages::ClearMessages;
pub use create_queue::{CreateQueue, QueueCreated};
pub use delete_message::DeleteMessage;
pub use delete_queue::DeleteQueue;
pub use get_messages::GetMessages;
pub use get_queue_metadata::{GetQueueAcl, GetQueueMetadata, QueueMetadata};
pub use list_queues::{ListQueues, QueueList};
pub use peek_messages::PeekMessages;
pub use put_message::PutMessage;
pub use set_queue_acl::SetQueueAcl;
pub use set_queue_metadata::SetQueueMetadata;
pub use update_message::UpdateMessage;

pub use crate::store::queue::{QueueRecord, delete_expired};

use std::sync::Arc;

use lazuli_model::admission::queue::PopReceipt;
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;
use to_the_end::to_the_end;
use uuid::Uuid;

use crate::fault::Answer;
use crate::store::queue::{MessageRecord, QueueCache};
use crate::{Context, Services};

/// A message as it is answered; which parts of it is the wire's affair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    pub id: Uuid,
    pub inserted: Timestamp,
    /// None for never.
    pub expires: Option<Timestamp>,
    pub next_visible: Timestamp,
    pub receipt: PopReceipt,
    pub dequeue_count: u32,
    pub text: String,
}

impl Delivered {
    fn new(message: &MessageRecord, text: String) -> Self {
        let fields = &message.fields;
        Self {
            id: message.id,
            inserted: Timestamp(fields.inserted),
            expires: fields.expires.map(Timestamp),
            next_visible: Timestamp(fields.visible),
            receipt: message.receipt(),
            dequeue_count: fields.dequeue_count,
            text,
        }
    }
}

/// The cache of a queue as it is now.
async fn open(services: &Services, context: &Context, queue: &str) -> Answer<Arc<QueueCache>> {
    let found = services.read(context, |view| async move {
        let found = view.queue(queue).await?;
        Ok(found.record().ok_or(ErrorCode::QueueNotFound)?.messages)
    });
    Ok(services.queue_caches().open(found.await?))
}

/// The cache of a queue as it was lately, for a change whose commit finds out whether it still is.
async fn open_to_change(services: &Services, context: &Context, queue: &str) -> Answer<Arc<QueueCache>> {
    match services.known_messages(context, queue) {
        Some(messages) => Ok(services.queue_caches().open(messages)),
        None => open(services, context, queue).await,
    }
}

/// How a change that was begun on one cache ends.
enum Done<T> {
    Done(T),
    /// The queue has a new generation of messages: begin again.
    Moved,
}
