//! Delete Message.

use lazuli_model::admission::queue::PopReceipt;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;
use uuid::Uuid;

use super::{Done, open_to_change, to_the_end};
use crate::fault::Answer;
use crate::store::queue::MessageRecord;
use crate::store::queue::QueueCache;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct DeleteMessage {
    pub queue: String,
    /// None for an id that no message can have.
    pub message: Option<Uuid>,
    pub receipt: PopReceipt,
}

impl DeleteMessage {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let (services, context) = (services.clone(), context.clone());
        to_the_end(async move {
            loop {
                let cache = &*open_to_change(&services, &context, &self.queue).await?;
                match self.delete(&services, &context, cache).await? {
                    Done::Moved => services.queue_caches().close(cache.messages()),
                    Done::Done(message) => {
                        cache.vanished(&message.slot());
                        return Ok(());
                    }
                }
            }
        })
        .await
    }

    async fn delete(
        &self,
        services: &Services,
        context: &Context,
        cache: &QueueCache,
    ) -> Answer<Done<MessageRecord>> {
        let id = self.message.ok_or(ErrorCode::MessageNotFound)?;
        services
            .commit(context, |unit| async move {
                unit.near_queue_and_messages(&self.queue, cache.messages(), [id.as_u128()]).await?;
                let queue = unit.queue(&self.queue).await?.admit(policy::DeleteMessage, &())?.present()?;
                if queue.messages != cache.messages() {
                    return Ok(Done::Moved);
                }
                let found = queue.message(id).await?;
                let message = found.admit(policy::DeleteMessage, &self.receipt)?.present()?;
                Ok(Done::Done(message.delete()))
            })
            .await
    }
}
