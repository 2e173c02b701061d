//! Delete Message.

use lazuli_model::admission::queue::PopReceipt;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;
use uuid::Uuid;

use super::hand::Hand;
use super::{Done, open, to_the_end};
use crate::fault::Answer;
use crate::record::queue::MessageRecord;
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
                let hand = &*open(&services, &context, &self.queue).await?;
                match self.delete(&services, &context, hand).await? {
                    Done::Moved => services.hands().close(hand.messages()),
                    Done::Done(message) => {
                        hand.vanished(&message.slot());
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
        hand: &Hand,
    ) -> Answer<Done<MessageRecord>> {
        let id = self.message.ok_or(ErrorCode::MessageNotFound)?;
        services
            .commit(context, |unit| async move {
                let queue = unit.queue(&self.queue).await?.admit(policy::DeleteMessage, &())?.present()?;
                if queue.messages != hand.messages() {
                    return Ok(Done::Moved);
                }
                let found = queue.message(id).await?;
                let message = found.admit(policy::DeleteMessage, &self.receipt)?.present()?;
                Ok(Done::Done(message.delete()))
            })
            .await
    }
}
