//! Append Blob Seal: the blob can be read and deleted, and no block can be appended any more.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct AppendBlobSeal {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
}

impl AppendBlobSeal {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.blob(&input.at).await?;
                Ok(found.admit(policy::AppendBlobSeal, &input.preconditions)?.committed()?.seal())
            })
            .await
    }
}
