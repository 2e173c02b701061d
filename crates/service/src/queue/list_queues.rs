//! List Queues.

use crate::fault::Answer;
use crate::record::queue::QueueRecord;
use crate::shared::by_name::ByName;
use crate::shared::marker::Position;
use crate::{Context, Services, key};

#[derive(Clone, Debug)]
pub struct ListQueues {
    pub prefix: String,
    pub marker: Option<Position>,
    pub max_results: usize,
    /// What the page may take in memory.
    pub max_bytes: usize,
}

#[derive(Clone, Debug)]
pub struct QueueList {
    pub items: Vec<(String, QueueRecord)>,
    pub next: Option<Position>,
}

impl ListQueues {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<QueueList> {
        let reader = services.engine().reader().await?;
        let listing = ByName {
            space: key::queues(&context.account),
            prefix: &self.prefix,
            marker: self.marker.as_ref(),
            max_results: self.max_results,
            max_bytes: self.max_bytes,
        };
        let (items, next) = listing.page(&reader).await?;
        Ok(QueueList { items, next })
    }
}
