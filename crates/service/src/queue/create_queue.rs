//! Create Queue.

use lazuli_engine::Plan;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;

use super::stored;
use crate::fault::{Answer, Fault};
use crate::key::Generation;
use crate::record::queue::QueueRecord;
use crate::{Context, Services, store};

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
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                let found = stored::find_queue(&reader, &context.account, &input.queue).await?;
                if let Some(queue) = found {
                    if queue.metadata.same_as(&input.metadata) {
                        return Ok(Plan::new(QueueCreated::Already));
                    }
                    return Err(ErrorCode::QueueAlreadyExists.into());
                }
                let now = store::now(&reader);
                let fields = QueueRecord {
                    messages: Generation::new(now.0, rand::random()),
                    created: now,
                    metadata: input.metadata.clone(),
                    policies: Vec::new(),
                };
                let mut plan = Plan::new(QueueCreated::New);
                stored::put_queue(&mut plan, &context.account, &input.queue, &fields);
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
