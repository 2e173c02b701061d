//! Get Messages.

use lazuli_model::error::Failure;
use lazuli_service::queue::GetMessages;

use super::message::{self, Shown, TEXT_LIMIT};
use super::{parameters, uncached};
use crate::call::Call;
use crate::reply::Reply;

pub async fn get_messages(call: Call) -> Result<Reply, Failure> {
    let input = GetMessages {
        queue: call.container(),
        count: parameters::message_count(&call.head)?,
        visibility_timeout: parameters::visibility_on_get(&call.head)?,
    };
    // Before any message is taken: afterwards the answer can no longer be refused.
    let share = call.services.outgoing().reserve(input.count * TEXT_LIMIT).await?;
    let messages = input.execute(&call.services, &call.context).await?;
    Ok(uncached(Reply::of(call.row).xml(message::write(&messages, Shown::Got)).within(share)))
}
