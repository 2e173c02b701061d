//! Messages whose time has run out. Nobody is shown them; here they are also deleted.

use lazuli_engine::{Plan, Scan};

use super::hand::read_slot;
use crate::fault::{Answer, Fault};
use crate::key::{self, Generation};
use crate::record::Record;
use crate::record::queue::{MessageFields, MessageRecord, QueueRecord, Slot};
use crate::store::queue::message;
use crate::{Services, store};

/// Behind whoever met them: a failure leaves them to the next who does.
pub fn delete(services: &Services, messages: Generation, slots: Vec<Slot>) {
    if slots.is_empty() {
        return;
    }
    let services = services.clone();
    tokio::spawn(async move {
        for slots in slots.chunks(SLOTS_IN_COMMIT) {
            if let Err(fault) = delete_some(&services, messages, slots).await {
                tracing::warn!(cause = ?fault.0.cause, "expired messages stay for now");
                return;
            }
        }
    });
}

const SLOTS_IN_COMMIT: usize = 500;

async fn delete_some(services: &Services, messages: Generation, slots: &[Slot]) -> Answer<()> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let now = store::now(&reader);
            let mut plan = Plan::new(());
            for slot in slots {
                let found = message::find(&reader, messages, slot.id).await?;
                if let Some(found) = found
                    && found.is_expired(now)
                {
                    message::delete(&mut plan, messages, &found);
                }
            }
            Ok::<_, Fault>(plan)
        })
        .await
}

/// All queues from end to end, for those where no consumer comes by.
pub async fn walk(services: &Services) -> Answer<()> {
    let mut after = None;
    loop {
        let reader = services.engine().reader().await?;
        let page = reader.scan(Scan { after, limit: 100, ..Scan::of(key::every_queue()) }).await?;
        for (_, entry) in &page.items {
            walk_queue(services, QueueRecord::decode(&entry.value)?.messages).await?;
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            return Ok(());
        }
    }
}

async fn walk_queue(services: &Services, messages: Generation) -> Answer<()> {
    let mut after = None;
    loop {
        // A snapshot a page: a long walk holds nothing back.
        let reader = services.engine().reader().await?;
        let now = store::now(&reader);
        let page = reader.scan(Scan { after, ..Scan::of(key::all_visible(messages)) }).await?;
        let slots = page.items.iter().filter_map(|(key, entry)| read_slot(key, &entry.value));
        let expired: Vec<Slot> = slots.filter(|(_, at)| *at <= now.0).map(|(slot, _)| slot).collect();
        for slots in expired.chunks(SLOTS_IN_COMMIT) {
            delete_some(services, messages, slots).await?;
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            return Ok(());
        }
    }
}

/// Everything filed under a dead generation, a bounded commit at a time. True while there is more.
pub(crate) async fn sweep(services: &Services, messages: Generation) -> Answer<bool> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let scan =
                Scan { limit: SLOTS_IN_COMMIT, max_bytes: 300_000, ..Scan::of(key::messages(messages)) };
            let page = reader.scan(scan).await?;
            let mut plan = Plan::new(page.more);
            for (key, entry) in page.items {
                let Some(id) = message::message_id(&key) else { continue };
                let found = MessageRecord { id, fields: MessageFields::decode(&entry.value)? };
                message::delete(&mut plan, messages, &found);
            }
            Ok::<_, Fault>(plan)
        })
        .await
}
