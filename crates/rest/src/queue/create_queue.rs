//! Create Queue.

use lazuli_model::error::Failure;
use lazuli_model::name;
use lazuli_service::queue::{CreateQueue, QueueCreated};

use crate::call::Call;
use crate::decode;
use crate::reply::Reply;

pub async fn create_queue(call: Call) -> Result<Reply, Failure> {
    name::validate_queue(&call.head.target.container)?;
    let input = CreateQueue { queue: call.container(), metadata: decode::metadata(&call.head)? };
    let created = input.execute(&call.services, &call.context).await?;
    let reply = Reply::of(call.row);
    Ok(match created {
        QueueCreated::New => reply,
        QueueCreated::Already => reply.otherwise(call.row),
    })
}
