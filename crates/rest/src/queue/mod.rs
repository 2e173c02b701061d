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
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

/// The longest document about a queue or the service.
const XML_LIMIT: usize = 1024 * 1024;

/// From the row of a request to the operation that it means.
pub async fn dispatch(call: Call) -> Result<Reply, Failure> {
    match call.row.op {
        Op::ListQueues => list_queues::list_queues(call).await,
        Op::GetQueueServiceProperties => {
            get_queue_service_properties::get_queue_service_properties(call).await
        }
        Op::SetQueueServiceProperties => {
            set_queue_service_properties::set_queue_service_properties(call).await
        }
        Op::GetQueueServiceStats => blob::get_blob_service_stats(call).await.map(uncached),
        Op::GetQueueUserDelegationKey => blob::get_user_delegation_key(call).await,
        Op::CreateQueue => create_queue::create_queue(call).await,
        Op::DeleteQueue => delete_queue::delete_queue(call).await,
        Op::GetQueueMetadata => get_queue_metadata::get_queue_metadata(call).await,
        Op::SetQueueMetadata => set_queue_metadata::set_queue_metadata(call).await,
        Op::GetQueueAcl => get_queue_acl::get_queue_acl(call).await,
        Op::SetQueueAcl => set_queue_acl::set_queue_acl(call).await,
        Op::PutMessage => put_message::put_message(call).await,
        Op::GetMessages => get_messages::get_messages(call).await,
        Op::PeekMessages => peek_messages::peek_messages(call).await,
        Op::ClearMessages => clear_messages::clear_messages(call).await,
        Op::UpdateMessage => update_message::update_message(call).await,
        Op::DeleteMessage => delete_message::delete_message(call).await,
        _ => Err(ErrorCode::NotImplemented.into()),
    }
}

/// Every read of this service says so (recorded).
fn uncached(reply: Reply) -> Reply {
    reply.header(headers::CACHE_CONTROL, "no-cache")
}
