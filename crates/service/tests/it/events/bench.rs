//! An account with events, and short names for what is done with them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use futures_util::future::BoxFuture;
use lazuli_engine::{Host, Scan};
use lazuli_model::event::{EventSubscription, EventTarget};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::Op;
use lazuli_service::event::{Carrier, Cause, EventStats, Letter, deliver_once};
use lazuli_service::queue::{CreateQueue, DeleteMessage, GetMessages};
use lazuli_service::store::key;
use lazuli_service::{Context, ServiceOptions};
use parking_lot::Mutex;
use serde_json::Value;

use crate::support::Bench;

pub const QUEUE: &str = "events";

/// A subscription of the account to everything.
pub fn to_queue(queue: &str) -> EventSubscription {
    EventSubscription::new("acct", EventTarget::Queue(queue.into()))
}

pub fn to_hook(address: &str) -> EventSubscription {
    EventSubscription::new("acct", EventTarget::WebHook(address.into()))
}

pub fn options(subscriptions: Vec<EventSubscription>, versioning: bool) -> ServiceOptions {
    let mut features = lazuli_model::account::AccountFeatures::default();
    let of = features.entry("acct");
    of.versioning = versioning;
    of.events = subscriptions.into_iter().map(Arc::new).collect();
    ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() }
}

/// With a clock that moves when it is told to, and a queue for events.
pub async fn bench(subscriptions: Vec<EventSubscription>) -> Bench {
    let bench = Bench::over(crate::testing::engine(Host::test()).await, options(subscriptions, false)).await;
    bench.create_queue(QUEUE).await;
    bench
}

impl Bench {
    pub async fn create_queue(&self, queue: &str) {
        let input = CreateQueue { queue: queue.into(), metadata: Metadata::default() };
        input.execute(&self.services, &self.context).await.unwrap();
    }

    /// The same, for requests of this operation. The clock goes on: two requests are never at one moment.
    pub fn asked(&self, op: Op) -> Self {
        self.pass(Duration::from_millis(1));
        let cause = Cause {
            op,
            request_id: uuid::Uuid::from_u128(7),
            client_request_id: Some("mine".into()),
            endpoint: "http://127.0.0.1:10000/acct".into(),
        };
        let context = Context { cause: Some(Arc::new(cause)), ..self.context.clone() };
        Self { services: self.services.clone(), context }
    }

    pub fn pass(&self, time: Duration) {
        self.services.engine().advance_clock(time);
    }

    /// Every server delivers until nothing is due.
    pub async fn deliver(&self, carrier: &dyn Carrier) -> EventStats {
        let mut all = EventStats::default();
        for _ in 0..100 {
            let mut found = EventStats::default();
            for server in self.services.all() {
                let some = deliver_once(server, carrier).await.unwrap();
                found.delivered += some.delivered;
                found.failed += some.failed;
                found.given_up += some.given_up;
            }
            if found == EventStats::default() {
                return all;
            }
            all.delivered += found.delivered;
            all.failed += found.failed;
            all.given_up += found.given_up;
        }
        panic!("deliverers find no end");
    }

    /// What is in a queue, taken out of it.
    pub async fn taken(&self, queue: &str) -> Vec<Value> {
        let mut taken = Vec::new();
        loop {
            let input = GetMessages { queue: queue.into(), count: 32, visibility_timeout: 3_600 };
            let some = input.execute(&self.services, &self.context).await.unwrap();
            if some.is_empty() {
                return taken;
            }
            for message in some {
                let bytes = base64::prelude::BASE64_STANDARD.decode(&message.text).unwrap();
                taken.push(serde_json::from_slice(&bytes).unwrap());
                let delete = DeleteMessage {
                    queue: queue.into(),
                    message: Some(message.id),
                    receipt: message.receipt,
                };
                delete.execute(&self.services, &self.context).await.unwrap();
            }
        }
    }

    /// Delivered and taken: what each says happened, in the order of their sequencers.
    pub async fn told(&self) -> Vec<String> {
        self.deliver(&Nowhere).await;
        let mut events = self.taken(QUEUE).await;
        events.sort_by_key(|event| event["data"]["sequencer"].as_str().unwrap().to_owned());
        let line = |event: &Value| {
            let text = |value: &Value| value.as_str().unwrap().rsplit(['.', '/']).next().unwrap().to_owned();
            let (kind, subject) = (text(&event["eventType"]), text(&event["subject"]));
            format!("{kind} {} {subject}", event["data"]["api"].as_str().unwrap())
        };
        events.iter().map(line).collect()
    }

    /// Rows of the outbox.
    pub async fn waiting(&self) -> usize {
        let reader = self.services.engine().reader().await.unwrap();
        reader.scan(Scan::of(key::events())).await.unwrap().items.len()
    }
}

/// For tests without webhooks.
pub struct Nowhere;

impl Carrier for Nowhere {
    fn carry<'a>(&'a self, letter: Letter<'a>) -> BoxFuture<'a, Result<(), String>> {
        panic!("nothing is to be sent to {}", letter.subscription.name)
    }
}

/// Takes what it is brought, but for as many as it is to fail first.
#[derive(Default)]
pub struct Hook {
    pub fails: Mutex<VecDeque<bool>>,
    pub brought: Mutex<Vec<(String, u32, Value)>>,
}

impl Hook {
    pub fn failing(times: usize) -> Self {
        Self { fails: Mutex::new(std::iter::repeat_n(true, times).collect()), ..Self::default() }
    }
}

impl Carrier for Hook {
    fn carry<'a>(&'a self, letter: Letter<'a>) -> BoxFuture<'a, Result<(), String>> {
        let event = serde_json::from_str(&letter.event).unwrap();
        self.brought.lock().push((letter.subscription.name.clone(), letter.tries, event));
        let is_dead = letter.subscription.name.contains("dead");
        let fails = is_dead || self.fails.lock().pop_front().unwrap_or(false);
        Box::pin(async move { if fails { Err("not now".to_owned()) } else { Ok(()) } })
    }
}
