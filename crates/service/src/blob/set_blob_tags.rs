//! Set Blob Tags: the whole set is replaced. The ETag stays, as the policy says.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::tags::Tags;

use super::{BlobAddress, BlobState};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetBlobTags {
    pub at: BlobAddress,
    /// The base or a version.
    pub state: BlobState,
    pub preconditions: Preconditions,
    pub tags: Tags,
}

impl SetBlobTags {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let given = &input.preconditions;
                let mut blob = match input.state {
                    BlobState::Base => {
                        unit.blob(&input.at).await?.admit(policy::SetBlobTags, given)?.committed()?
                    }
                    state => {
                        let found = unit.committed_blob(&input.at, state).await?;
                        found.admit(policy::SetBlobTags, given)?.present()?
                    }
                };
                blob.tags.clone_from(&input.tags);
                blob.put();
                Ok(())
            })
            .await
    }
}
