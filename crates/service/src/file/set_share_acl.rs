//! Set Share ACL: the stored access policies of the share, all of them replaced.

use lazuli_model::access::AccessPolicy;
use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::ShareAddress;
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetShareAcl {
    pub at: ShareAddress,
    pub preconditions: Preconditions,
    pub policies: Vec<AccessPolicy>,
}

impl SetShareAcl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.share(&input.at).await?;
                let mut share = found.admit(policy::SetShareAcl, &input.preconditions)?.present()?;
                share.policies.clone_from(&input.policies);
                Ok(share.put())
            })
            .await
    }
}
