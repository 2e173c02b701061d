//! Clear Messages: the queue goes on with a new generation of messages; the old ones are swept later.

use lazuli_model::operation::policy;

use crate::fault::{Answer, Fault};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct ClearMessages {
    pub queue: String,
}

impl ClearMessages {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        let ended = services
            .giving_back()
            .commit(context, |unit| async move {
                let queue = unit.queue(&input.queue).await?.admit(policy::ClearMessages, &())?.present()?;
                Ok::<_, Fault>(queue.clear())
            })
            .await?;
        services.queue_caches().close(ended);
        Ok(())
    }
}
