//! Get Blob Tags: of a blob or a snapshot.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::tags::Tags;

use super::{BlobAddress, BlobState};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetBlobTags {
    pub at: BlobAddress,
    pub state: BlobState,
    pub preconditions: Preconditions,
}

impl GetBlobTags {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Tags> {
        let input = &self;
        services
            .read(context, |view| async move {
                let found = view.committed_blob(&input.at, input.state).await?;
                Ok(found.admit(policy::GetBlobTags, &input.preconditions)?.into_record()?.tags)
            })
            .await
    }
}
