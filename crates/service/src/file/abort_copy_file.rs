//! Abort Copy File: the file stays, without content.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use uuid::Uuid;

use super::FileAddress;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct AbortCopyFile {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub id: Uuid,
}

impl AbortCopyFile {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.path(&input.at).await?;
                let file = found.admit(policy::AbortCopyFile, &input.preconditions)?.file()?;
                file.abort_copy(input.id).await
            })
            .await
    }
}
