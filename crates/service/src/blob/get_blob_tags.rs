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
        let found = services.view(context).await?.committed_blob(&self.at, self.state).await?;
        Ok(found.admit(policy::GetBlobTags, &self.preconditions)?.into_record()?.tags)
    }
}
