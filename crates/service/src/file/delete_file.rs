//! Delete File.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::FileAddress;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct DeleteFile {
    pub at: FileAddress,
    pub preconditions: Preconditions,
}

impl DeleteFile {
    /// In a share for NFS, how many names the file has left.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Option<u32>> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.path(&input.at).await?;
                let admitted = found.admit(policy::DeleteFile, &input.preconditions)?;
                admitted.file_or_link()?.delete().await
            })
            .await
    }
}
