//! Get Queue Metadata.

use lazuli_model::error::Failure;
use lazuli_service::queue::GetQueueMetadata;

use super::uncached;
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn get_queue_metadata(call: Call) -> Result<Reply, Failure> {
    let input = GetQueueMetadata { queue: call.container() };
    let found = input.execute(&call.services, &call.context).await?;
    let reply = Reply::of(call.row).header(headers::X_MS_APPROXIMATE_MESSAGES_COUNT, found.message_count);
    Ok(uncached(reply.metadata(found.metadata.iter())))
}
