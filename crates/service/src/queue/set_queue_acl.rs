//! Set Queue ACL.

use lazuli_engine::Plan;
use lazuli_model::access::AccessPolicy;

use super::stored;
use crate::fault::{Answer, Fault};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetQueueAcl {
    pub queue: String,
    pub policies: Vec<AccessPolicy>,
}

impl SetQueueAcl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                let mut queue = stored::queue(&reader, &context.account, &input.queue).await?;
                queue.policies.clone_from(&input.policies);
                let mut plan = Plan::new(());
                stored::put_queue(&mut plan, &context.account, &input.queue, &queue);
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
