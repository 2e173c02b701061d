//! Set Queue Metadata: the new set takes the place of the old; the last writer wins.

use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;

use crate::fault::Answer;
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
            .commit(context, |unit| async move {
                let found = unit.queue(&input.queue).await?;
                let mut queue = found.admit(policy::SetQueueMetadata, &())?.present()?;
                queue.metadata = input.metadata.clone();
                queue.put();
                Ok(())
            })
            .await
    }
}
