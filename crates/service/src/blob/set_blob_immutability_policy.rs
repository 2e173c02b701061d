//! Set Blob Immutability Policy and Delete Blob Immutability Policy: until when a blob, a snapshot or a version, may be neither changed
//! nor deleted. The ETag stays, as the policy says.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::ImmutabilityPolicy;
use lazuli_model::operation::policy;

use super::{BlobAddress, BlobState};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetBlobImmutabilityPolicy {
    pub at: BlobAddress,
    pub state: BlobState,
    pub preconditions: Preconditions,
    pub policy: ImmutabilityPolicy,
}

impl SetBlobImmutabilityPolicy {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.committed_blob(&input.at, input.state).await?;
                let admitted = found.admit(policy::SetBlobImmutabilityPolicy, &input.preconditions)?;
                let mut blob = admitted.present()?;
                if let Some(now) = blob.extras().immutability {
                    now.permits(input.policy)?;
                }
                blob.extras_mut().immutability = Some(input.policy);
                blob.put_hold().await?;
                Ok(())
            })
            .await
    }
}

#[derive(Clone, Debug)]
pub struct DeleteBlobImmutabilityPolicy {
    pub at: BlobAddress,
    pub state: BlobState,
    pub preconditions: Preconditions,
}

impl DeleteBlobImmutabilityPolicy {
    /// To take away what is not there changes nothing.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.committed_blob(&input.at, input.state).await?;
                let admitted = found.admit(policy::DeleteBlobImmutabilityPolicy, &input.preconditions)?;
                let mut blob = admitted.present()?;
                if let Some(now) = blob.extras().immutability {
                    now.permits_removal()?;
                    blob.extras_mut().immutability = None;
                    blob.put_hold().await?;
                }
                Ok(())
            })
            .await
    }
}
