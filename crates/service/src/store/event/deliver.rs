//! Delivery of events. Each subscription has a job of its own, which one server at a time does: a target that cannot be
//! reached holds up no other.
//!
//! An event goes into a queue by the commit that takes it out of the outbox, so it is there once. To a webhook it is
//! sent first and taken out then, so it is there at least once.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::future::{BoxFuture, join_all};
use lazuli_engine::{Key, Plan, Reader, Scan};
use lazuli_model::event::{EventSubscription, EventTarget};
use lazuli_model::time::Timestamp;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::counters::EventStats;
use super::outbox::{self, Listed};
use crate::Services;
use crate::event::render;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, Generation};
use crate::store::queue::{self, MessageRecord, QueueRecord};
use crate::store::record::Record as _;
use crate::store::record::event::EventRow;
use crate::store::upkeep::{Work, has_room};

/// Into a queue with one commit.
const IN_COMMIT: usize = 100;
/// Sent to a webhook at once.
const AT_ONCE: usize = 16;
/// How long a webhook may take: less than the job is this server's without a word of it.
const LONGEST: Duration = Duration::from_secs(25);
/// How often a deliverer looks that was not woken: for what other servers raised, and for what is due again.
const LOOK: Duration = Duration::from_secs(1);
/// How often rows of subscriptions that are gone are looked for.
const TIDY: Duration = Duration::from_secs(600);
/// How long a message lives, as Put Message has it.
const MESSAGE_LIVES: i64 = 7 * 24 * 60 * 60;

/// One event on its way.
pub struct Letter<'a> {
    pub subscription: &'a EventSubscription,
    /// One JSON object.
    pub event: String,
    /// Deliveries of it that failed.
    pub tries: u32,
}

/// Brings events to addresses outside.
pub trait Carrier: Send + Sync {
    /// Comes back when the other side has taken the event, or with the reason why not. In a bounded time.
    fn carry<'a>(&'a self, letter: Letter<'a>) -> BoxFuture<'a, Result<(), String>>;
}

/// Delivers until the engine stops. To be spawned once for a server.
pub async fn deliver_forever(services: Services, carrier: Arc<dyn Carrier>) {
    let mut all = JoinSet::new();
    for subscription in services.options().features.events() {
        let (services, subscription) = (services.clone(), Arc::clone(subscription));
        all.spawn(deliver_to(services, subscription, Arc::clone(&carrier)));
    }
    while services.engine().is_stopped().is_none() {
        if let Err(fault) = forget_unknown(&services).await {
            tracing::warn!(cause = ?fault.0.cause, "events without a subscription stay for now");
        }
        tokio::time::sleep(TIDY).await;
    }
}

async fn deliver_to(services: Services, subscription: Arc<EventSubscription>, carrier: Arc<dyn Carrier>) {
    let mut bell = services.events().listen();
    while services.engine().is_stopped().is_none() {
        bell.mark_unchanged();
        let (found, failed) = match deliver_some(&services, &subscription, &*carrier).await {
            Ok(outcome) => (outcome.delivered > 0, outcome.failed > 0),
            Err(fault) => {
                tracing::warn!(subscription = subscription.name, cause = ?fault.0.cause, "events wait");
                (false, true)
            }
        };
        if failed {
            tokio::time::sleep(LOOK).await;
        } else if !found {
            let _ = timeout(LOOK, bell.changed()).await;
        }
    }
}

/// One pass over every subscription: some events of each.
pub async fn deliver_once(services: &Services, carrier: &dyn Carrier) -> Answer<EventStats> {
    let mut all = EventStats::default();
    for subscription in services.options().features.events() {
        let EventStats { delivered, failed, given_up } =
            deliver_some(services, subscription, carrier).await?;
        all.delivered += delivered;
        all.failed += failed;
        all.given_up += given_up;
    }
    Ok(all)
}

async fn deliver_some(
    services: &Services,
    subscription: &EventSubscription,
    carrier: &dyn Carrier,
) -> Answer<EventStats> {
    let limit = match subscription.target {
        EventTarget::Queue(_) => IN_COMMIT,
        EventTarget::WebHook(_) => AT_ONCE,
    };
    // Looked at before the job is asked for: an idle server writes nothing.
    if outbox::due(services, subscription, 1).await?.is_empty() {
        return Ok(EventStats::default());
    }
    let job = format!("events-{:016x}", outbox::id(subscription));
    let Some(work) = Work::take_job(services, &job).await? else { return Ok(EventStats::default()) };
    let listed = outbox::due(services, subscription, limit).await?;
    let delivered = match &subscription.target {
        EventTarget::Queue(queue) => into_queue(&work, subscription, queue, &listed).await,
        EventTarget::WebHook(_) => to_hook(&work, subscription, carrier, listed).await,
    };
    let outcome = match delivered {
        // The server that has the job now will do it.
        Err(_) if work.is_lost() => EventStats::default(),
        delivered => delivered?,
    };
    services.events().count(outcome);
    Ok(outcome)
}

/// What a commit put into a queue.
struct Filed {
    messages: Generation,
    records: Vec<MessageRecord>,
}

async fn into_queue(
    work: &Work,
    subscription: &EventSubscription,
    name: &str,
    listed: &[Listed],
) -> Answer<EventStats> {
    let (outcome, filed) = work
        .run(|reader| async move {
            let plan = fill_queue(work, &reader, subscription, name, listed).await?;
            Ok(plan)
        })
        .await?;
    if let Some(Filed { messages, records }) = filed {
        let cache = work.queue_caches().open(messages);
        for message in records {
            cache.appeared(message.slot(), message.fields.expires);
        }
    }
    if outcome.failed > 0 {
        tracing::warn!(subscription = subscription.name, count = outcome.failed, "no queue for events");
    }
    Ok(outcome)
}

async fn fill_queue(
    work: &Work,
    reader: &Reader,
    subscription: &EventSubscription,
    name: &str,
    listed: &[Listed],
) -> Answer<Plan<(EventStats, Option<Filed>)>> {
    let mut plan = Plan::new(EventStats::default());
    let queue = match reader.get(key::queue(&subscription.account, name)).await? {
        Some(entry) => Some(QueueRecord::decode(&entry.value)?),
        None => None,
    };
    // After the first reading, which tells the time.
    let now = crate::store::now(reader);
    let cache = queue.as_ref().map(|queue| work.queue_caches().open(queue.messages));
    let mut records = Vec::new();
    for Listed { key, .. } in listed.iter() {
        if !has_room(&plan) {
            break;
        }
        // A check of the commit: what another server took out is not put in twice.
        let Some(entry) = reader.get(key.clone()).await? else { continue };
        let Ok(row) = EventRow::decode(&entry.value) else {
            outbox::set_aside(&mut plan, subscription, key, entry.value, now);
            continue;
        };
        let Some(cache) = &cache else {
            outbox::postpone(&mut plan, subscription, key, row, now);
            continue;
        };
        let text = BASE64_STANDARD.encode(render(&row, subscription.schema));
        let (id, receipt) = (crate::fresh_uuid_of(now), cache.next_receipt(now));
        let new = queue::NewMessage { expires: Some(now.plus_seconds(MESSAGE_LIVES)), visible: now, receipt };
        records.push(queue::insert(&mut plan, cache.messages(), id, new, &text, now));
        plan.delete(key.clone());
        plan.output.delivered += 1;
    }
    let filed = cache.map(|cache| Filed { messages: cache.messages(), records });
    Ok(with(plan, |outcome| (outcome, filed)))
}

async fn to_hook(
    work: &Work,
    subscription: &EventSubscription,
    carrier: &dyn Carrier,
    listed: Vec<Listed>,
) -> Answer<EventStats> {
    // The job may have gone to another server, which sends them too.
    work.run(|_| async { Ok(Plan::new(())) }).await?;
    let sending = listed.into_iter().map(|Listed { key, row }| async move {
        let Some(row) = row else { return (key, false) };
        let letter = Letter { subscription, event: render(&row, subscription.schema), tries: row.tries };
        let carried = match timeout(LONGEST, carrier.carry(letter)).await {
            Ok(carried) => carried,
            Err(_) => Err("no answer in time".to_owned()),
        };
        if let Err(why) = &carried {
            tracing::warn!(subscription = subscription.name, event = %row.id, tries = row.tries, why, "an event is not taken");
        }
        (key, carried.is_ok())
    });
    let sent = &join_all(sending).await;
    work.run(|reader| async move {
        let now: Timestamp = crate::store::now(&reader);
        let mut plan = Plan::new(EventStats::default());
        for (key, is_taken) in sent {
            let Some(entry) = reader.get(key.clone()).await? else { continue };
            match EventRow::decode(&entry.value) {
                Ok(_) if *is_taken => {
                    plan.delete(key.clone());
                    plan.output.delivered += 1;
                }
                Ok(row) => outbox::postpone(&mut plan, subscription, key, row, now),
                Err(_) => outbox::set_aside(&mut plan, subscription, key, entry.value, now),
            }
        }
        Ok(plan)
    })
    .await
}

fn with<T, U>(plan: Plan<T>, output: impl FnOnce(T) -> U) -> Plan<U> {
    let Plan { writes, private_writes, publish, release, output: old } = plan;
    Plan { writes, private_writes, publish, release, output: output(old) }
}

/// Rows of subscriptions that the configuration has no longer are given up when they are a day old: a server that was
/// started without one by mistake loses nothing.
pub async fn forget_unknown(services: &Services) -> Answer<()> {
    let known: Vec<(&str, u64)> = services
        .options()
        .features
        .events()
        .map(|subscription| (subscription.account.as_str(), outbox::id(subscription)))
        .collect();
    let mut after: Option<Key> = None;
    loop {
        let reader = services.engine().reader().await?;
        let now = crate::store::now(&reader);
        let scan =
            Scan { after: after.clone(), limit: IN_COMMIT, keys_only: true, ..Scan::of(key::events()) };
        let page = reader.scan(scan).await?;
        let mut old = Vec::new();
        let Some((last, _)) = page.items.last() else { return Ok(()) };
        let mut next = last.clone();
        for (key, _) in &page.items {
            let Some((account, subscription, due)) = key::event_place(key) else { continue };
            if known.contains(&(account, subscription)) || !outbox::is_old(due, now) {
                // Nothing more to do for this one: on behind it.
                next = key::events_end(account, subscription);
                break;
            }
            old.push(key.clone());
        }
        forget(services, &old).await?;
        after = Some(next);
    }
}

async fn forget(services: &Services, keys: &[Key]) -> Answer<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let services = services.giving_back();
    let forgotten = services
        .engine()
        .run(services.deadline(), |_| async {
            let mut plan = Plan::new(keys.len() as u64);
            keys.iter().for_each(|key| plan.delete(key.clone()));
            Ok::<_, Fault>(plan)
        })
        .await?;
    services.events().count(EventStats { given_up: forgotten, ..EventStats::default() });
    Ok(())
}
