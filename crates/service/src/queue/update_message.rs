//! Update Message: its holder gives it a new time-out, and a new text if it wants.

use lazuli_engine::Plan;
use lazuli_model::admission::queue::{PopReceipt, admit_message};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::hand::Hand;
use super::{Done, open, stored, to_the_end};
use crate::fault::{Answer, Fault};
use crate::record::queue::{MessageRecord, Slot};
use crate::{Context, Services, store};

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
                let hand = &*open(&services, &context, &self.queue).await?;
                match self.update(&services, &context, hand).await? {
                    Done::Moved => services.hands().close(hand.messages()),
                    Done::Done((before, message)) => {
                        hand.vanished(&before);
                        hand.appeared(message.slot(), message.fields.expires);
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
        hand: &Hand,
    ) -> Answer<Done<(Slot, MessageRecord)>> {
        let id = self.message.ok_or(ErrorCode::MessageNotFound)?;
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                let queue = stored::queue(&reader, &context.account, &self.queue).await?;
                if queue.messages != hand.messages() {
                    return Ok(Plan::new(Done::Moved));
                }
                let now = store::now(&reader);
                let found = stored::find_message(&reader, queue.messages, id.as_u128()).await?;
                let admitted = admit_message(self.receipt, found, now)?;
                let mut message = admitted.into_record().ok_or(ErrorCode::MessageNotFound)?;
                let before = message.slot();
                let mut plan = Plan::new(Done::Moved);
                stored::leave_slot(&mut plan, queue.messages, &message);
                if let Some(text) = &self.text {
                    stored::delete_text(&mut plan, &message.fields.text);
                    message.fields.text = stored::put_text(&mut plan, text, now);
                }
                message.fields.visible = now.plus_seconds(i64::from(self.visibility_timeout)).0;
                message.fields.receipt = hand.next_receipt(now).max(message.fields.receipt + 1);
                stored::put_message(&mut plan, queue.messages, &message);
                plan.output = Done::Done((before, message));
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
