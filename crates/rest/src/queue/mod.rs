//! The Queue service on the wire, one file an operation: decode, call, encode.

pub(crate) mod clear_messages;
pub(crate) mod create_queue;
pub(crate) mod delete_message;
pub(crate) mod delete_queue;
pub(crate) mod get_messages;
pub(crate) mod get_queue_acl;
pub(crate) mod get_queue_metadata;
pub(crate) mod get_queue_service_properties;
pub(crate) mod list_queues;
pub mod message;
pub(crate) mod parameters;
pub(crate) mod peek_messages;
pub(crate) mod put_message;
pub(crate) mod set_queue_acl;
pub(crate) mod set_queue_metadata;
pub(crate) mod set_queue_service_properties;
pub(crate) mod update_message;

use lazuli_model::error::Failure;

use crate::blob;
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

/// The longest document about a queue or the service.
const XML_LIMIT: usize = 1024 * 1024;

pub(crate) async fn get_queue_service_stats(call: Call) -> Result<Reply, Failure> {
    blob::get_blob_service_stats(call).await.map(uncached)
}

/// Every read of this service says so (recorded).
fn uncached(reply: Reply) -> Reply {
    reply.header(headers::CACHE_CONTROL, "no-cache")
}
