//! Get Blob Tags: of a blob or a snapshot.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::tags::Tags;
use lazuli_model::time::Timestamp;

use super::BlobAddress;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetBlobTags {
    pub at: BlobAddress,
    pub snapshot: Option<Timestamp>,
    pub preconditions: Preconditions,
}

impl GetBlobTags {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Tags> {
        let found = services.view(context).await?.committed_blob(&self.at, self.snapshot).await?;
        Ok(found.admit(policy::GetBlobTags, &self.preconditions)?.into_record()?.tags)
    }
}
