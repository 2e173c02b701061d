//! Put Message.

use lazuli_model::error::Failure;
use lazuli_model::version::Feature;
use lazuli_service::queue::PutMessage;

use super::message::{self, Shown};
use super::parameters;
use crate::call::Call;
use crate::reply::Reply;

pub async fn put_message(call: Call) -> Result<Reply, Failure> {
    let visibility_timeout = parameters::visibility_on_put(&call.head)?;
    let time_to_live = parameters::time_to_live(&call.head, visibility_timeout)?;
    let queue = call.container();
    let text =
        message::read(&call.services, call.body).await?.ok_or_else(|| Failure::invalid_xml(0, 0, ""))?;
    let input = PutMessage { queue, text, visibility_timeout, time_to_live };
    let put = input.execute(&call.services, &call.context).await?;
    if !call.head.version.has(Feature::PutMessageReceipt) {
        return Ok(Reply::of(call.row));
    }
    Ok(Reply::of(call.row).xml(message::write(&[put], Shown::Put)))
}
