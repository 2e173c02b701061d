//! Get Queue Metadata and Get Queue ACL.

use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;

use crate::fault::Answer;
use crate::{Context, Services};
use lazuli_model::access::AccessPolicy;

#[derive(Clone, Debug)]
pub struct GetQueueMetadata {
    pub queue: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueMetadata {
    pub metadata: Metadata,
    /// Messages that have not expired, visible or not.
    pub message_count: u64,
}

impl GetQueueMetadata {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<QueueMetadata> {
        let name = &self.queue;
        let queue = services
            .read(context, |view| async move {
                Ok(view.queue(name).await?.admit(policy::GetQueueMetadata, &())?.into_record()?)
            })
            .await?;
        let message_count = services.queue_caches().open(queue.messages).count(services).await?;
        Ok(QueueMetadata { metadata: queue.metadata, message_count })
    }
}

#[derive(Clone, Debug)]
pub struct GetQueueAcl {
    pub queue: String,
}

impl GetQueueAcl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Vec<AccessPolicy>> {
        let name = &self.queue;
        services
            .read(context, |view| async move {
                Ok(view.queue(name).await?.admit(policy::GetQueueAcl, &())?.into_record()?.policies)
            })
            .await
    }
}
