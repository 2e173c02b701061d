//! Undelete Blob: a soft-deleted blob comes back, with its soft-deleted snapshots and versions.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::BlobAddress;
use crate::fault::Answer;
use crate::store::Undeleting;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct UndeleteBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
}

impl UndeleteBlob {
    /// Each step is a commit of its own; every step goes on behind the one before, so they come to an end.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        let mut next = Some(Undeleting::default());
        while let Some(step) = &next {
            next = services
                .commit(context, |unit| async move {
                    let found = unit.blob(&input.at).await?;
                    found.admit(policy::UndeleteBlob, &input.preconditions)?.undelete(step).await
                })
                .await?;
        }
        Ok(())
    }
}
