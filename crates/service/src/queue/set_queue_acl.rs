//! Set Queue ACL.

use lazuli_model::operation::policy;

use crate::fault::Answer;
use crate::{Context, Services};
use lazuli_model::access::AccessPolicy;

#[derive(Clone, Debug)]
pub struct SetQueueAcl {
    pub queue: String,
    pub policies: Vec<AccessPolicy>,
}

impl SetQueueAcl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let mut queue = unit.queue(&input.queue).await?.admit(policy::SetQueueAcl, &())?.present()?;
                queue.policies.clone_from(&input.policies);
                queue.put();
                Ok(())
            })
            .await
    }
}
