//! Set Directory Metadata: the whole set is replaced.

use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;

use super::FileAddress;
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetDirectoryMetadata {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub metadata: Metadata,
}

impl SetDirectoryMetadata {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.path(&input.at).await?;
                let admitted = found.admit(policy::SetDirectoryMetadata, &input.preconditions)?;
                let mut directory = admitted.directory()?;
                directory.set_metadata(&input.metadata);
                Ok(directory.put().await?.stamped())
            })
            .await
    }
}
