//! Set File Metadata: the whole set is replaced.

use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;

use super::FileAddress;
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetFileMetadata {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub metadata: Metadata,
}

impl SetFileMetadata {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.path(&input.at).await?;
                let mut file = found.admit(policy::SetFileMetadata, &input.preconditions)?.file_or_link()?;
                file.set_metadata(&input.metadata);
                Ok(file.put().await?.stamped())
            })
            .await
    }
}
