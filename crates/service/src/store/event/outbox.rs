//! Rows of the outbox: by subscription, then by the moment from which they are to be delivered.

use std::time::Duration;

use lazuli_engine::{Key, Plan, Scan, Value};
use lazuli_model::event::EventSubscription;
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::counters::EventStats;
use crate::Services;
use crate::fault::Answer;
use crate::store::key;
use crate::store::record::Record as _;
use crate::store::record::event::EventRow;

/// An event is given up that could not be delivered for so long, or so often.
pub const LIVES: Duration = Duration::from_secs(24 * 60 * 60);
const TRIES: u32 = 30;

/// Seconds until the next try: those of Event Grid.
const PAUSES: [i64; 10] = [10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200];

/// A row as it was listed.
pub struct Listed {
    pub key: Key,
    /// None for one that cannot be read.
    pub row: Option<EventRow>,
}

pub fn id(subscription: &EventSubscription) -> u64 {
    let text = [subscription.account.as_bytes(), &[0], subscription.name.as_bytes()].concat();
    let digest = crate::md5(&text);
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

pub fn key(subscription: &EventSubscription, due: Timestamp, event: Uuid) -> Key {
    key::event(&subscription.account, id(subscription), due, event.as_u128())
}

/// The first of what is to be delivered by now.
pub async fn due(services: &Services, subscription: &EventSubscription, limit: usize) -> Answer<Vec<Listed>> {
    let reader = services.engine().reader().await?;
    let now = crate::store::now(&reader);
    let range = key::events_due(&subscription.account, id(subscription), now);
    let page = reader.scan(Scan { limit, ..Scan::of(range) }).await?;
    let listed = page.items.into_iter().map(|(key, entry)| {
        let row = EventRow::decode(&entry.value).ok();
        Listed { key, row }
    });
    Ok(listed.collect())
}

/// After a delivery that failed: tried again later, or given up.
pub fn postpone(
    plan: &mut Plan<EventStats>,
    subscription: &EventSubscription,
    at: &Key,
    mut row: EventRow,
    now: Timestamp,
) {
    plan.delete(at.clone());
    row.tries += 1;
    plan.output.failed += 1;
    if row.tries >= TRIES || is_old(row.raised, now) {
        plan.output.given_up += 1;
        return;
    }
    let pause = PAUSES[(row.tries as usize - 1).min(PAUSES.len() - 1)];
    // The last try is made when its day is over, not after.
    let end = row.raised.plus_seconds(LIVES.as_secs() as i64);
    let due = now.plus_seconds(pause).min(end.max(now));
    plan.put(key(subscription, due, row.id), row.encode());
}

/// One that cannot be read, perhaps of a later build: out of the way of the others.
pub fn set_aside(
    plan: &mut Plan<EventStats>,
    subscription: &EventSubscription,
    at: &Key,
    value: Value,
    now: Timestamp,
) {
    plan.delete(at.clone());
    plan.output.failed += 1;
    if let Some(event) = key::event_of(at) {
        let due = now.plus_seconds(3_600);
        plan.put(key::event(&subscription.account, id(subscription), due, event), value);
    }
}

pub fn is_old(raised: Timestamp, now: Timestamp) -> bool {
    now >= raised.plus_seconds(LIVES.as_secs() as i64)
}
