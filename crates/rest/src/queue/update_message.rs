//! Update Message.

use lazuli_model::error::Failure;
use lazuli_service::queue::UpdateMessage;

use super::{message, parameters};
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn update_message(call: Call) -> Result<Reply, Failure> {
    let receipt = parameters::pop_receipt(&call.head)?;
    let visibility_timeout = parameters::visibility_on_update(&call.head)?;
    let (queue, id) = (call.container(), parameters::message_id(&call));
    let text = message::read(&call.services, call.body).await?;
    let input = UpdateMessage { queue, message: id, receipt, visibility_timeout, text };
    let (receipt, visible) = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row)
        .header(headers::X_MS_POPRECEIPT, receipt.print())
        .header(headers::X_MS_TIME_NEXT_VISIBLE, visible.rfc1123()))
}
