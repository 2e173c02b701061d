//! Set Container ACL: the public access level and the stored access policies, replaced together.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};
use lazuli_model::access::{AccessPolicy, PublicAccess};

#[derive(Clone, Debug)]
pub struct SetContainerAcl {
    pub container: String,
    pub preconditions: Preconditions,
    pub public_access: PublicAccess,
    pub policies: Vec<AccessPolicy>,
}

impl SetContainerAcl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.container(&input.container).await?;
                let mut container = found.admit(policy::SetContainerAcl, &input.preconditions)?.present()?;
                container.public_access = input.public_access;
                container.policies.clone_from(&input.policies);
                Ok(container.put())
            })
            .await
    }
}
