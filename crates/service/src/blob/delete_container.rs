//! Delete Container: one commit ends the generation, or lays it aside; what it held is swept later.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct DeleteContainer {
    pub container: String,
    pub preconditions: Preconditions,
}

impl DeleteContainer {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .giving_back()
            .commit(context, |unit| async move {
                let found = unit.container(&input.container).await?;
                found.admit(policy::DeleteContainer, &input.preconditions)?.present()?.delete().await
            })
            .await
    }
}
