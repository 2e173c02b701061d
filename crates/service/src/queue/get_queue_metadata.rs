//! Get Queue Metadata and Get Queue ACL.

use super::stored;
use crate::fault::Answer;
use crate::record::container::StoredPolicy;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetQueueMetadata {
    pub queue: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueMetadata {
    pub metadata: Vec<(String, String)>,
    /// Messages that have not expired, visible or not.
    pub message_count: u64,
}

impl GetQueueMetadata {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<QueueMetadata> {
        let reader = services.engine().reader().await?;
        let queue = stored::queue(&reader, &context.account, &self.queue).await?;
        drop(reader);
        let message_count = services.hands().open(queue.messages).count(services).await?;
        Ok(QueueMetadata { metadata: queue.metadata, message_count })
    }
}

#[derive(Clone, Debug)]
pub struct GetQueueAcl {
    pub queue: String,
}

impl GetQueueAcl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Vec<StoredPolicy>> {
        let reader = services.engine().reader().await?;
        Ok(stored::queue(&reader, &context.account, &self.queue).await?.policies)
    }
}
