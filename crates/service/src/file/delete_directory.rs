//! Delete Directory: an empty one.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::FileAddress;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct DeleteDirectory {
    pub at: FileAddress,
    pub preconditions: Preconditions,
}

impl DeleteDirectory {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.path(&input.at).await?;
                let admitted = found.admit(policy::DeleteDirectory, &input.preconditions)?;
                admitted.directory()?.delete().await?;
                Ok(())
            })
            .await
    }
}
