//! Messages whose time has run out. No operation shows them; the Get that meets them, and the sweeper, delete them.

use lazuli_engine::{Key, Plan, Reader, Scan, ScanPage};

use super::queue_cache::read_slot;
use crate::Services;
use crate::fault::{Answer, Fault};
use crate::store;
use crate::store::key::{self, Generation};
use crate::store::queue::message;
use crate::store::record::Record;
use crate::store::record::queue::{MessageFields, MessageRecord, QueueRecord, Slot};
use crate::store::upkeep::Work;

/// In a task behind the Get that met them: when it fails, the next Get that meets them, or the sweeper, tries again.
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
    let plan = |reader: Reader| async move { plan_delete(&reader, messages, slots).await };
    services.engine().run(services.deadline(), plan).await
}

async fn plan_delete(reader: &Reader, messages: Generation, slots: &[Slot]) -> Answer<Plan<()>> {
    let now = store::now(reader);
    let mut plan = Plan::new(());
    for slot in slots {
        let found = message::find(reader, messages, slot.id).await?;
        if let Some(found) = found
            && found.is_expired(now)
        {
            message::delete(&mut plan, messages, &found);
        }
    }
    Ok(plan)
}

/// Deletes the expired messages of all queues, unless another server works in the background.
pub async fn delete_all(services: &Services) -> Answer<()> {
    if let Some(work) = Work::take(services).await? {
        walk(&work).await;
        work.release().await?;
    }
    Ok(())
}

/// All queues from end to end, for those where no consumer comes by. A queue that cannot be read is passed over.
pub(crate) async fn walk(work: &Work) {
    let mut after = None;
    loop {
        let queues = match queues(work, after).await {
            Ok(page) => page,
            Err(fault) => return work.upkeep().pass_over("expired messages", &fault),
        };
        for (_, entry) in &queues.items {
            let walked = match QueueRecord::decode(&entry.value) {
                Ok(fields) => walk_queue(work, fields.messages).await,
                Err(error) => Err(error.into()),
            };
            if let Err(fault) = walked {
                if work.is_lost() {
                    return;
                }
                work.upkeep().pass_over("expired messages of a queue", &fault);
            }
        }
        after = queues.items.last().map(|(key, _)| key.clone());
        if !queues.more {
            return;
        }
    }
}

async fn queues(work: &Work, after: Option<Key>) -> Answer<ScanPage> {
    let reader = work.engine().reader().await?;
    Ok(reader.scan(Scan { after, limit: 100, ..Scan::of(key::every_queue()) }).await?)
}

async fn walk_queue(work: &Work, messages: Generation) -> Answer<()> {
    let mut after = None;
    loop {
        // A snapshot a page: a long walk holds nothing back.
        let reader = work.engine().reader().await?;
        let now = store::now(&reader);
        let page = reader.scan(Scan { after, ..Scan::of(key::all_visible(messages)) }).await?;
        let slots = page.items.iter().filter_map(|(key, entry)| read_slot(key, &entry.value));
        let expired: Vec<Slot> = slots.filter(|(_, at)| *at <= now.0).map(|(slot, _)| slot).collect();
        for slots in expired.chunks(SLOTS_IN_COMMIT) {
            work.run(|reader| async move { plan_delete(&reader, messages, slots).await }).await?;
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            return Ok(());
        }
    }
}

/// Everything filed under a dead generation, a bounded commit at a time. True while there is more.
pub(crate) async fn sweep(work: &Work, messages: Generation) -> Answer<bool> {
    work.run(|reader| async move {
        let scan = Scan { limit: SLOTS_IN_COMMIT, max_bytes: 300_000, ..Scan::of(key::messages(messages)) };
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
