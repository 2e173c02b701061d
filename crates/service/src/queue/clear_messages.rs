//! Clear Messages: the queue goes on with a new generation of messages; the old ones are swept later.

use lazuli_engine::{Plan, Value};

use super::stored;
use crate::fault::{Answer, Fault};
use crate::key::Generation;
use crate::{Context, Services, key, store};

#[derive(Clone, Debug)]
pub struct ClearMessages {
    pub queue: String,
}

impl ClearMessages {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        let ended = services
            .engine()
            .giving_back()
            .run(services.deadline(), |reader| async move {
                let mut queue = stored::queue(&reader, &context.account, &input.queue).await?;
                let ended = queue.messages;
                queue.messages = Generation::new(store::now(&reader).0, rand::random());
                let mut plan = Plan::new(ended);
                stored::put_queue(&mut plan, &context.account, &input.queue, &queue);
                plan.put(key::dead_generation(ended), Value::new());
                Ok::<_, Fault>(plan)
            })
            .await?;
        services.hands().close(ended);
        Ok(())
    }
}
