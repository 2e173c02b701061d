//! Set Blob Legal Hold: a blob, a snapshot or a version, may be neither changed nor deleted until the hold is lifted. The ETag stays,
//! as the policy says.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::{BlobAddress, BlobState};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetBlobLegalHold {
    pub at: BlobAddress,
    pub state: BlobState,
    pub preconditions: Preconditions,
    pub hold: bool,
}

impl SetBlobLegalHold {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.committed_blob(&input.at, input.state).await?;
                let mut blob = found.admit(policy::SetBlobLegalHold, &input.preconditions)?.present()?;
                if blob.extras().legal_hold != input.hold {
                    blob.extras_mut().legal_hold = input.hold;
                    blob.put_hold().await?;
                }
                Ok(())
            })
            .await
    }
}
