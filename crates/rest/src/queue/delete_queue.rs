//! Delete Queue.

use lazuli_model::error::Failure;
use lazuli_service::queue::DeleteQueue;

use crate::call::Call;
use crate::reply::Reply;

pub async fn delete_queue(call: Call) -> Result<Reply, Failure> {
    let input = DeleteQueue { queue: call.container() };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
