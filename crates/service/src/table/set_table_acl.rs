//! Set Table ACL: the stored access policies, replaced together.

use lazuli_model::operation::policy;

use crate::fault::Answer;
use crate::{Context, Services};
use lazuli_model::access::AccessPolicy;

#[derive(Clone, Debug)]
pub struct SetTableAcl {
    pub table: String,
    pub policies: Vec<AccessPolicy>,
}

impl SetTableAcl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let mut table = unit.table(&input.table).await?.admit(policy::SetTableAcl, &())?.present()?;
                table.policies.clone_from(&input.policies);
                table.put();
                Ok(())
            })
            .await
    }
}
