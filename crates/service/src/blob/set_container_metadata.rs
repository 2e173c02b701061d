//! Set Container Metadata.

use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;

use super::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetContainerMetadata {
    pub container: String,
    pub preconditions: Preconditions,
    pub metadata: Metadata,
}

impl SetContainerMetadata {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.container(&input.container).await?;
                let mut container =
                    found.admit(policy::SetContainerMetadata, &input.preconditions)?.present()?;
                container.metadata = input.metadata.clone();
                Ok(container.put())
            })
            .await
    }
}
