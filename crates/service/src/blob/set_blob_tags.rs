//! Set Blob Tags: the whole set is replaced. The ETag stays, as the policy says.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::tags::Tags;

use super::BlobAddress;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetBlobTags {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub tags: Tags,
}

impl SetBlobTags {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.blob(&input.at).await?;
                let mut blob = found.admit(policy::SetBlobTags, &input.preconditions)?.committed()?;
                blob.tags.clone_from(&input.tags);
                blob.put();
                Ok(())
            })
            .await
    }
}
