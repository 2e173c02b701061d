//! Restore Container: a soft-deleted container comes back with all that it held.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;

use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct RestoreContainer {
    pub container: String,
    pub preconditions: Preconditions,
    /// The name that it had.
    pub deleted: String,
    /// Which of the deleted containers of that name: the moment of its deletion.
    pub version: Timestamp,
}

impl RestoreContainer {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.container(&input.container).await?;
                let admitted = found.admit(policy::RestoreContainer, &input.preconditions)?;
                admitted.restore(&input.deleted, input.version).await
            })
            .await
    }
}
