//! Delete Message.

use lazuli_model::error::Failure;
use lazuli_service::queue::DeleteMessage;

use super::parameters;
use crate::call::Call;
use crate::reply::Reply;

pub async fn delete_message(call: Call) -> Result<Reply, Failure> {
    let receipt = parameters::pop_receipt(&call.head)?;
    let input = DeleteMessage { queue: call.container(), message: parameters::message_id(&call), receipt };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
