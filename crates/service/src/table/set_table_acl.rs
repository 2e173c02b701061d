//! Set Table ACL: the stored access policies, replaced together.

use lazuli_engine::Plan;
use lazuli_model::access::AccessPolicy;

use super::table;
use crate::fault::{Answer, Fault};
use crate::record::Record;
use crate::{Context, Services, key};

#[derive(Clone, Debug)]
pub struct SetTableAcl {
    pub table: String,
    pub policies: Vec<AccessPolicy>,
}

impl SetTableAcl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                let mut fields = table(&reader, &context.account, &input.table).await?;
                fields.policies.clone_from(&input.policies);
                let mut plan = Plan::new(());
                plan.put(key::table(&context.account, &input.table), fields.encode());
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
