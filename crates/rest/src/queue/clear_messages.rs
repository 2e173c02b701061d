//! Clear Messages.

use lazuli_model::error::Failure;
use lazuli_service::queue::ClearMessages;

use crate::call::Call;
use crate::reply::Reply;

pub async fn clear_messages(call: Call) -> Result<Reply, Failure> {
    let input = ClearMessages { queue: call.container() };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
