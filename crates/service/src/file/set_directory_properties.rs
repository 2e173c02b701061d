//! Set Directory Properties.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::smb::{PosixWishes, SmbWishes};

use super::{Described, FileAddress};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetDirectoryProperties {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub smb: SmbWishes,
    pub posix: PosixWishes,
}

impl SetDirectoryProperties {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Described> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.path(&input.at).await?;
                let admitted = found.admit(policy::SetDirectoryProperties, &input.preconditions)?;
                let mut directory = admitted.directory()?;
                directory.set_properties(&input.smb, input.posix).await?;
                let (id, parent_id) = directory.numbers();
                Ok(Described { record: directory.put().await?, id, parent_id })
            })
            .await
    }
}
