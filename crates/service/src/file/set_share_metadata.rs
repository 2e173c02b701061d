//! Set Share Metadata: all of it is replaced.

use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;

use super::ShareAddress;
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetShareMetadata {
    pub at: ShareAddress,
    pub preconditions: Preconditions,
    pub metadata: Metadata,
}

impl SetShareMetadata {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.share(&input.at).await?;
                let mut share = found.admit(policy::SetShareMetadata, &input.preconditions)?.present()?;
                share.metadata.clone_from(&input.metadata);
                Ok(share.put())
            })
            .await
    }
}
