//! A queue over an engine, and short names for what the tests do with it.

use std::time::Duration;

use lazuli_engine::{Engine, Host, KeyRange, Scan};
use lazuli_model::admission::queue::PopReceipt;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::version::ApiVersion;
use lazuli_service::queue::*;
use lazuli_service::{Answer, Context, ServiceOptions};
use uuid::Uuid;

use crate::SERVERS;
use crate::testing::Servers;

pub const QUEUE: &str = "q";

#[derive(Clone)]
pub struct Bench {
    pub services: Servers,
    pub context: Context,
}

pub fn code<T: std::fmt::Debug>(answer: Answer<T>) -> ErrorCode {
    answer.expect_err("refused").0.code
}

pub fn metadata(pairs: &[(&str, &str)]) -> Metadata {
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Metadata::from_pairs(pairs).expect("metadata")
}

impl Bench {
    /// With a clock that moves only when told.
    pub async fn new() -> Self {
        let bench = Self::over(crate::testing::engine(Host::test()).await).await;
        bench.create(&[]).await.expect("queue");
        bench
    }

    pub async fn over(engine: Engine) -> Self {
        let services = Servers::new(engine, ServiceOptions::default(), SERVERS).await;
        Self { services, context: Context::of_owner("acct", ApiVersion::NEWEST) }
    }

    pub fn advance(&self, seconds: u64) {
        self.services.engine().advance_clock(Duration::from_secs(seconds));
    }

    pub async fn create(&self, pairs: &[(&str, &str)]) -> Answer<QueueCreated> {
        let input = CreateQueue { queue: QUEUE.into(), metadata: metadata(pairs) };
        input.execute(&self.services, &self.context).await
    }

    pub async fn delete_queue(&self) -> Answer<()> {
        DeleteQueue { queue: QUEUE.into() }.execute(&self.services, &self.context).await
    }

    pub async fn put(&self, text: &str) -> Delivered {
        self.put_with(text, 0, Some(604_800)).await.expect("put")
    }

    pub async fn put_with(&self, text: &str, delay: u32, live: Option<u32>) -> Answer<Delivered> {
        self.tick();
        let input = PutMessage {
            queue: QUEUE.into(),
            text: text.into(),
            visibility_timeout: delay,
            time_to_live: live,
        };
        input.execute(&self.services, &self.context).await
    }

    pub async fn get(&self, count: usize) -> Vec<Delivered> {
        self.get_for(count, 30).await.expect("get")
    }

    pub async fn get_for(&self, count: usize, visibility_timeout: u32) -> Answer<Vec<Delivered>> {
        let input = GetMessages { queue: QUEUE.into(), count, visibility_timeout };
        input.execute(&self.services, &self.context).await
    }

    pub async fn texts(&self, count: usize) -> Vec<String> {
        self.get(count).await.into_iter().map(|message| message.text).collect()
    }

    pub async fn peek(&self, count: usize) -> Vec<Delivered> {
        let input = PeekMessages { queue: QUEUE.into(), count };
        input.execute(&self.services, &self.context).await.expect("peek")
    }

    pub async fn delete(&self, id: Uuid, receipt: PopReceipt) -> Answer<()> {
        let input = DeleteMessage { queue: QUEUE.into(), message: Some(id), receipt };
        input.execute(&self.services, &self.context).await
    }

    pub async fn update(
        &self,
        id: Uuid,
        receipt: PopReceipt,
        timeout: u32,
        text: Option<&str>,
    ) -> Answer<PopReceipt> {
        let input = UpdateMessage {
            queue: QUEUE.into(),
            message: Some(id),
            receipt,
            visibility_timeout: timeout,
            text: text.map(str::to_owned),
        };
        Ok(input.execute(&self.services, &self.context).await?.0)
    }

    pub async fn clear(&self) {
        let input = ClearMessages { queue: QUEUE.into() };
        input.execute(&self.services, &self.context).await.expect("clear");
    }

    pub async fn count(&self) -> u64 {
        self.found().await.expect("queue").message_count
    }

    pub async fn found(&self) -> Answer<QueueMetadata> {
        GetQueueMetadata { queue: QUEUE.into() }.execute(&self.services, &self.context).await
    }

    /// A tick passes between two requests, as it does when they are made of different servers.
    fn tick(&self) {
        self.services.engine().advance_clock(Duration::from_nanos(100));
    }

    /// Every key in the engine, but the records of queues, and those that servers tell each other something by.
    pub async fn rest(&self) -> Vec<lazuli_engine::Key> {
        let reader = self.services.engine().reader().await.expect("reader");
        let everything = KeyRange { start: vec![1].into(), end: None };
        let page = reader.scan(Scan { limit: 100_000, ..Scan::of(everything) }).await.expect("scan");
        page.items
            .into_iter()
            .map(|(key, _)| key)
            .filter(|key| !matches!(key.first(), Some(b'q' | b'z' | b'j')))
            .collect()
    }
}
