//! Delete Share: one commit ends the share, or one of its snapshots; what it held is swept later.

use lazuli_model::admission::Preconditions;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;

use super::{DeleteShareSnapshots, ShareAddress};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct DeleteShare {
    pub at: ShareAddress,
    /// A share that has snapshots stays where this is none.
    pub snapshots: Option<DeleteShareSnapshots>,
    pub preconditions: Preconditions,
}

impl DeleteShare {
    /// What a share held that has provisioned rates.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Option<u64>> {
        let input = &self;
        services
            .giving_back()
            .commit(context, |unit| async move {
                let found = unit.share(&input.at).await?;
                // Other operations say that the share is not found (recorded).
                if input.at.snapshot.is_some() && found.record().is_none() {
                    return Err(ErrorCode::ShareSnapshotNotFound.into());
                }
                let share = found.admit(policy::DeleteShare, &input.preconditions)?.present()?;
                share.delete(input.snapshots).await
            })
            .await
    }
}
