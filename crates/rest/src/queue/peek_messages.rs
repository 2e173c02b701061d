//! Peek Messages.

use lazuli_model::error::Failure;
use lazuli_service::queue::PeekMessages;

use super::message::{self, Shown};
use super::{parameters, uncached};
use crate::call::Call;
use crate::reply::Reply;

pub async fn peek_messages(call: Call) -> Result<Reply, Failure> {
    let input = PeekMessages { queue: call.container(), count: parameters::message_count(&call.head)? };
    let messages = input.execute(&call.services, &call.context).await?;
    Ok(uncached(Reply::of(call.row).xml(message::write(&messages, Shown::Peeked))))
}
