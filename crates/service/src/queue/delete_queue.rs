//! Delete Queue: one commit, full or not; the messages are swept later.

use lazuli_engine::{Plan, Value};

use super::stored;
use crate::fault::{Answer, Fault};
use crate::{Context, Services, key};

#[derive(Clone, Debug)]
pub struct DeleteQueue {
    pub queue: String,
}

impl DeleteQueue {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        let ended = services
            .engine()
            .giving_back()
            .run(services.deadline(), |reader| async move {
                let queue = stored::queue(&reader, &context.account, &input.queue).await?;
                let mut plan = Plan::new(queue.messages);
                plan.delete(key::queue(&context.account, &input.queue));
                plan.put(key::dead_generation(queue.messages), Value::new());
                Ok::<_, Fault>(plan)
            })
            .await?;
        services.hands().close(ended);
        Ok(())
    }
}
