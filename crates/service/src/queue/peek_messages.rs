//! Peek Messages: those that are visible, left as they are.

use super::{Delivered, open};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct PeekMessages {
    pub queue: String,
    pub count: usize,
}

impl PeekMessages {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Vec<Delivered>> {
        let opened = open(services, context, &self.queue).await?;
        let hand = opened.get()?;
        loop {
            let slots = hand.first(services, self.count).await?;
            let view = services.view(context).await?;
            let mut messages = Vec::with_capacity(slots.len());
            let mut some_missing = false;
            for slot in &slots {
                match view.peek_message(hand.messages(), slot).await? {
                    Some((message, text)) => messages.push(Delivered::new(&message, text)),
                    None => {
                        hand.vanished(slot);
                        some_missing = true;
                    }
                }
            }
            if messages.len() >= self.count || !some_missing {
                return Ok(messages);
            }
        }
    }
}
