//! Create Directory.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::{Described, FileAddress, NewPath};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct CreateDirectory {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub new: NewPath,
}

impl CreateDirectory {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Described> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.path(&input.at).await?;
                found.admit(policy::CreateDirectory, &input.preconditions)?.create(&input.new).await
            })
            .await
    }
}
