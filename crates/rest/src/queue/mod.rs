//! The Queue service on the wire, one file an operation: decode, call, encode.

mod clear_messages;
mod create_queue;
mod delete_message;
mod delete_queue;
mod get_messages;
mod get_queue_acl;
mod get_queue_metadata;
mod get_queue_service_properties;
mod list_queues;
pub mod message;
mod parameters;
mod peek_messages;
mod put_message;
mod set_queue_acl;
mod set_queue_metadata;
mod set_queue_service_properties;
mod update_message;

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Op;

use crate::blob;
use crate::call::{Call, Operation};
use crate::headers;
use crate::reply::Reply;

/// The longest document about a queue or the service.
const XML_LIMIT: usize = 1024 * 1024;

/// From the row of a request to the operation that it means.
pub async fn dispatch(call: Call) -> Result<Reply, Failure> {
    let operation: Operation = match call.row.op {
        Op::ListQueues => Box::pin(list_queues::list_queues(call)),
        Op::GetQueueServiceProperties => {
            Box::pin(get_queue_service_properties::get_queue_service_properties(call))
        }
        Op::SetQueueServiceProperties => {
            Box::pin(set_queue_service_properties::set_queue_service_properties(call))
        }
        Op::GetQueueServiceStats => {
            Box::pin(async { blob::get_blob_service_stats(call).await.map(uncached) })
        }
        Op::GetQueueUserDelegationKey => Box::pin(blob::get_user_delegation_key(call)),
        Op::CreateQueue => Box::pin(create_queue::create_queue(call)),
        Op::DeleteQueue => Box::pin(delete_queue::delete_queue(call)),
        Op::GetQueueMetadata => Box::pin(get_queue_metadata::get_queue_metadata(call)),
        Op::SetQueueMetadata => Box::pin(set_queue_metadata::set_queue_metadata(call)),
        Op::GetQueueAcl => Box::pin(get_queue_acl::get_queue_acl(call)),
        Op::SetQueueAcl => Box::pin(set_queue_acl::set_queue_acl(call)),
        Op::PutMessage => Box::pin(put_message::put_message(call)),
        Op::GetMessages => Box::pin(get_messages::get_messages(call)),
        Op::PeekMessages => Box::pin(peek_messages::peek_messages(call)),
        Op::ClearMessages => Box::pin(clear_messages::clear_messages(call)),
        Op::UpdateMessage => Box::pin(update_message::update_message(call)),
        Op::DeleteMessage => Box::pin(delete_message::delete_message(call)),
        _ => return Err(ErrorCode::NotImplemented.into()),
    };
    operation.await
}

/// Every read of this service says so (recorded).
fn uncached(reply: Reply) -> Reply {
    reply.header(headers::CACHE_CONTROL, "no-cache")
}
