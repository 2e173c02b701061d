//! Abort Copy Blob: the blob stays, without content.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use uuid::Uuid;

use super::BlobAddress;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct AbortCopyBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub id: Uuid,
}

impl AbortCopyBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.blob(&input.at).await?;
                let blob = found.admit(policy::AbortCopyBlob, &input.preconditions)?.committed()?;
                Ok(blob.abort_copy(input.id)?)
            })
            .await
    }
}
