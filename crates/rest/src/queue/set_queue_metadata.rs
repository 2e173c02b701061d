//! Set Queue Metadata.

use lazuli_model::error::Failure;
use lazuli_service::queue::SetQueueMetadata;

use crate::call::Call;
use crate::decode;
use crate::reply::Reply;

pub async fn set_queue_metadata(call: Call) -> Result<Reply, Failure> {
    let input = SetQueueMetadata { queue: call.container(), metadata: decode::metadata(&call.head)? };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
