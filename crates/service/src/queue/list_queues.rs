//! List Queues.

use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::store::queue::QueueRecord;
use crate::{Context, Services};

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
        let (items, next) = services.view(context).await?.queues(&self).await?;
        Ok(QueueList { items, next })
    }
}
