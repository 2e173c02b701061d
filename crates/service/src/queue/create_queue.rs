//! Create Queue.

use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;

use crate::fault::{Answer, Fault};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct CreateQueue {
    pub queue: String,
    pub metadata: Metadata,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueCreated {
    New,
    /// It was there, with the same metadata.
    Already,
}

impl CreateQueue {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<QueueCreated> {
        let input = &self;
        let is_new = services
            .commit(context, |unit| async move {
                let admitted = unit.queue(&input.queue).await?.admit(policy::CreateQueue, &())?;
                Ok::<_, Fault>(admitted.create(&input.metadata)?)
            })
            .await?;
        Ok(if is_new { QueueCreated::New } else { QueueCreated::Already })
    }
}
