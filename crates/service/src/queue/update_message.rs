//! Update Message: its holder gives it a new time-out, and a new text if it wants.

use lazuli_model::admission::queue::PopReceipt;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::{Done, open_to_change, to_the_end};
use crate::fault::Answer;
use crate::store::queue::QueueCache;
use crate::store::queue::{MessageRecord, Slot};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct UpdateMessage {
    pub queue: String,
    /// None for an id that no message can have.
    pub message: Option<Uuid>,
    pub receipt: PopReceipt,
    pub visibility_timeout: u32,
    /// None keeps the text.
    pub text: Option<String>,
}

impl UpdateMessage {
    /// The new receipt, and when the message will be visible.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<(PopReceipt, Timestamp)> {
        let (services, context) = (services.clone(), context.clone());
        to_the_end(async move {
            loop {
                let cache = &*open_to_change(&services, &context, &self.queue).await?;
                match self.update(&services, &context, cache).await? {
                    Done::Moved => services.queue_caches().close(cache.messages()),
                    Done::Done((before, message)) => {
                        cache.vanished(&before);
                        cache.appeared(message.slot(), message.fields.expires);
                        return Ok((message.receipt(), Timestamp(message.fields.visible)));
                    }
                }
            }
        })
        .await
    }

    async fn update(
        &self,
        services: &Services,
        context: &Context,
        cache: &QueueCache,
    ) -> Answer<Done<(Slot, MessageRecord)>> {
        let id = self.message.ok_or(ErrorCode::MessageNotFound)?;
        services
            .commit(context, |unit| async move {
                unit.near_queue_and_messages(&self.queue, cache.messages(), [id.as_u128()]).await?;
                let queue = unit.queue(&self.queue).await?.admit(policy::UpdateMessage, &())?.present()?;
                if queue.messages != cache.messages() {
                    return Ok(Done::Moved);
                }
                let found = queue.message(id).await?;
                let mut message = found.admit(policy::UpdateMessage, &self.receipt)?.present()?;
                let (before, now) = (message.slot(), unit.now());
                if let Some(text) = &self.text {
                    message.set_text(text);
                }
                message.fields.visible = now.plus_seconds(i64::from(self.visibility_timeout)).0;
                message.fields.receipt = cache.next_receipt(now).max(message.fields.receipt + 1);
                Ok(Done::Done((before, message.put())))
            })
            .await
    }
}
