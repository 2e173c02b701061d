//! Set Queue Metadata: the new set takes the place of the old; the last writer wins.

use lazuli_engine::Plan;
use lazuli_model::metadata::Metadata;

use super::stored;
use crate::fault::{Answer, Fault};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetQueueMetadata {
    pub queue: String,
    pub metadata: Metadata,
}

impl SetQueueMetadata {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                let mut queue = stored::queue(&reader, &context.account, &input.queue).await?;
                queue.metadata = input.metadata.clone();
                let mut plan = Plan::new(());
                stored::put_queue(&mut plan, &context.account, &input.queue, &queue);
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
