//! Put Message.

use lazuli_engine::Plan;

use super::hand::Hand;
use super::{Delivered, Done, open, stored, to_the_end};
use crate::fault::{Answer, Fault};
use crate::record::queue::{MessageFields, MessageRecord};
use crate::{Context, Services, store};

#[derive(Clone, Debug)]
pub struct PutMessage {
    pub queue: String,
    pub text: String,
    /// Seconds until it can be got.
    pub visibility_timeout: u32,
    /// Seconds that it lives; None for ever.
    pub time_to_live: Option<u32>,
}

impl PutMessage {
    /// The message with its first receipt. Its text stays behind.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Delivered> {
        let (services, context) = (services.clone(), context.clone());
        to_the_end(async move {
            loop {
                let hand = &*open(&services, &context, &self.queue).await?;
                match self.put(&services, &context, hand).await? {
                    Done::Moved => services.hands().close(hand.messages()),
                    Done::Done(message) => {
                        hand.appeared(message.slot(), message.fields.expires);
                        return Ok(Delivered::new(&message, String::new()));
                    }
                }
            }
        })
        .await
    }

    async fn put(&self, services: &Services, context: &Context, hand: &Hand) -> Answer<Done<MessageRecord>> {
        let id = crate::fresh_uuid_of(services.now());
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                let queue = stored::queue(&reader, &context.account, &self.queue).await?;
                if queue.messages != hand.messages() {
                    return Ok(Plan::new(Done::Moved));
                }
                let now = store::now(&reader);
                let mut plan = Plan::new(Done::Moved);
                let fields = MessageFields {
                    inserted: now.0,
                    expires: self.time_to_live.map(|seconds| now.plus_seconds(i64::from(seconds)).0),
                    visible: now.plus_seconds(i64::from(self.visibility_timeout)).0,
                    receipt: hand.next_receipt(now),
                    dequeue_count: 0,
                    text: stored::put_text(&mut plan, &self.text, now),
                };
                let message = stored::message(id, fields);
                stored::put_message(&mut plan, queue.messages, &message);
                plan.output = Done::Done(message);
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
