//! Peek Messages: those that are visible, left as they are.

use super::{Delivered, open};
use crate::fault::Answer;
use crate::{Context, Services};

/// One Peek reads up to so often: consumers may get before it what it was about to show.
const READS: usize = 64;

#[derive(Clone, Debug)]
pub struct PeekMessages {
    pub queue: String,
    pub count: usize,
}

impl PeekMessages {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Vec<Delivered>> {
        let cache = &*open(services, context, &self.queue).await?;
        let mut messages = Vec::new();
        for _ in 0..READS {
            let slots = cache.first(services, self.count).await?;
            let view = services.view(context).await?;
            view.near_messages(cache.messages(), slots.iter().map(|slot| slot.id)).await?;
            messages = Vec::with_capacity(slots.len());
            let mut some_missing = false;
            for slot in &slots {
                match view.peek_message(cache.messages(), slot).await? {
                    Some((message, text)) => messages.push(Delivered::new(&message, text)),
                    None => {
                        cache.vanished(slot);
                        some_missing = true;
                    }
                }
            }
            if messages.len() >= self.count || !some_missing {
                break;
            }
            cache.doubt(services);
        }
        Ok(messages)
    }
}
