//! Delete Message.

use lazuli_engine::Plan;
use lazuli_model::admission::queue::{PopReceipt, admit_message};
use lazuli_model::error::ErrorCode;
use uuid::Uuid;

use super::hand::Hand;
use super::{Done, open, stored, to_the_end};
use crate::fault::{Answer, Fault};
use crate::record::queue::MessageRecord;
use crate::{Context, Services, store};

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
            .engine()
            .run(services.deadline(), |reader| async move {
                let queue = stored::queue(&reader, &context.account, &self.queue).await?;
                if queue.messages != hand.messages() {
                    return Ok(Plan::new(Done::Moved));
                }
                let found = stored::find_message(&reader, queue.messages, id.as_u128()).await?;
                let admitted = admit_message(self.receipt, found, store::now(&reader))?;
                let message = admitted.into_record().ok_or(ErrorCode::MessageNotFound)?;
                let mut plan = Plan::new(Done::Moved);
                stored::delete_message(&mut plan, queue.messages, &message);
                plan.output = Done::Done(message);
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
