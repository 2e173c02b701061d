//! Put Message.

use lazuli_model::operation::policy;

use super::{Delivered, Done, open_to_change, to_the_end};
use crate::fault::Answer;
use crate::store::queue::MessageRecord;
use crate::store::queue::NewMessage;
use crate::store::queue::QueueCache;
use crate::{Context, Services};

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
                let cache = &*open_to_change(&services, &context, &self.queue).await?;
                match self.put(&services, &context, cache).await? {
                    Done::Moved => services.queue_caches().close(cache.messages()),
                    Done::Done(message) => {
                        cache.appeared(message.slot(), message.fields.expires);
                        return Ok(Delivered::new(&message, String::new()));
                    }
                }
            }
        })
        .await
    }

    async fn put(
        &self,
        services: &Services,
        context: &Context,
        cache: &QueueCache,
    ) -> Answer<Done<MessageRecord>> {
        let id = crate::fresh_uuid_of(services.now());
        services
            .commit(context, |unit| async move {
                let mut queue = unit.queue(&self.queue).await?.admit(policy::PutMessage, &())?.present()?;
                if queue.messages != cache.messages() {
                    return Ok(Done::Moved);
                }
                let now = unit.now();
                let new = NewMessage {
                    expires: self.time_to_live.map(|seconds| now.plus_seconds(i64::from(seconds))),
                    visible: now.plus_seconds(i64::from(self.visibility_timeout)),
                    receipt: cache.next_receipt(now),
                };
                Ok(Done::Done(queue.insert(id, new, &self.text)))
            })
            .await
    }
}
