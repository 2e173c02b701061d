//! Delete Queue: one commit, full or not; the messages are swept later.

use lazuli_model::operation::policy;

use crate::fault::{Answer, Fault};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct DeleteQueue {
    pub queue: String,
}

impl DeleteQueue {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        let ended = services
            .giving_back()
            .commit(context, |unit| async move {
                let queue = unit.queue(&input.queue).await?.admit(policy::DeleteQueue, &())?.present()?;
                Ok::<_, Fault>(queue.delete())
            })
            .await?;
        services.queue_caches().close(ended);
        Ok(())
    }
}
