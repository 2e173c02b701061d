//! Get Messages: each goes to one consumer, who holds it until the time-out with the only valid receipt.

use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;

use super::{Delivered, Done, open, to_the_end};
use crate::fault::Answer;
use crate::store::queue::{Claim, MessageRecord, QueueCache, Slot};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetMessages {
    pub queue: String,
    pub count: usize,
    /// Seconds for which nobody else gets them.
    pub visibility_timeout: u32,
}

/// One Get makes up to so many: consumers of other servers may get before it what it was about to get.
const COMMITS: usize = 64;

/// What one commit got.
struct Got {
    messages: Vec<(MessageRecord, Delivered)>,
    /// A message was no longer where the cache remembered it.
    some_missing: bool,
}

impl GetMessages {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Vec<Delivered>> {
        let (services, context) = (services.clone(), context.clone());
        to_the_end(async move { self.get(&services, &context).await }).await
    }

    async fn get(&self, services: &Services, context: &Context) -> Answer<Vec<Delivered>> {
        let mut delivered = Vec::new();
        for _ in 0..COMMITS {
            match self.get_more(services, context, &mut delivered).await {
                Ok(true) => {}
                Ok(false) => return Ok(delivered),
                Err(fault) if delivered.is_empty() => return Err(fault),
                // What an earlier commit got is the client's by now.
                Err(_) => return Ok(delivered),
            }
        }
        if delivered.is_empty() { Err(ErrorCode::ServerBusy.into()) } else { Ok(delivered) }
    }

    /// One commit. True when there may be more to get.
    async fn get_more(
        &self,
        services: &Services,
        context: &Context,
        delivered: &mut Vec<Delivered>,
    ) -> Answer<bool> {
        let wanted = self.count - delivered.len();
        // Where reading takes a round trip, what is ready here is got without another: the commit finds out whether the queue is
        // still the same.
        if let Some(messages) = services.known_messages(context, &self.queue) {
            let cache = &*services.queue_caches().open(messages);
            if let Some(claim) = cache.claim_ready(services, wanted) {
                return self.get_claimed(services, context, claim, delivered).await;
            }
        }
        // This reading also tells the time: what another server has just put is visible by it.
        let cache = &*open(services, context, &self.queue).await?;
        let claim = cache.claim(services, wanted).await?;
        match claim.is_empty() {
            true => Ok(false),
            false => self.get_claimed(services, context, claim, delivered).await,
        }
    }

    async fn get_claimed(
        &self,
        services: &Services,
        context: &Context,
        claim: Claim<'_>,
        delivered: &mut Vec<Delivered>,
    ) -> Answer<bool> {
        let (cache, slots) = (claim.cache(), claim.slots());
        match self.commit(services, context, cache, &slots).await? {
            Done::Moved => {
                services.queue_caches().close(cache.messages());
                Ok(true)
            }
            Done::Done(got) => {
                claim.settle();
                if got.some_missing {
                    cache.doubt(services);
                }
                for (record, message) in got.messages {
                    cache.appeared(record.slot(), record.fields.expires);
                    delivered.push(message);
                }
                Ok(delivered.len() < self.count && got.some_missing)
            }
        }
    }

    async fn commit(
        &self,
        services: &Services,
        context: &Context,
        cache: &QueueCache,
        slots: &[Slot],
    ) -> Answer<Done<Got>> {
        services
            .commit(context, |unit| async move {
                let ids = slots.iter().map(|slot| slot.id);
                unit.near_queue_and_messages(&self.queue, cache.messages(), ids).await?;
                let queue = unit.queue(&self.queue).await?.admit(policy::GetMessages, &())?.present()?;
                if queue.messages != cache.messages() {
                    return Ok(Done::Moved);
                }
                let mut got = Got { messages: Vec::with_capacity(slots.len()), some_missing: false };
                for slot in slots {
                    let Some(mut message) = queue.take(slot).await? else {
                        got.some_missing = true;
                        continue;
                    };
                    self.dequeue(&mut message, cache, unit.now());
                    let text = message.text().await?;
                    let message = message.put();
                    let delivered = Delivered::new(&message, text);
                    got.messages.push((message, delivered));
                }
                Ok(Done::Done(got))
            })
            .await
    }

    fn dequeue(&self, message: &mut MessageRecord, cache: &QueueCache, now: Timestamp) {
        let fields = &mut message.fields;
        fields.dequeue_count = fields.dequeue_count.saturating_add(1);
        fields.visible = now.plus_seconds(i64::from(self.visibility_timeout)).0;
        fields.receipt = cache.next_receipt(now).max(fields.receipt + 1);
    }
}
