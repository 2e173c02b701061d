//! Get Directory Properties, Get Directory Metadata: one read of the record.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::Judged;

use super::{Described, FileAddress};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetDirectoryProperties {
    pub at: FileAddress,
    pub preconditions: Preconditions,
}

impl GetDirectoryProperties {
    pub async fn execute(self, services: &Services, context: &Context, op: impl Judged) -> Answer<Described> {
        let view = services.view(context).await?;
        Ok(view.path(&self.at).await?.admit(op, &self.preconditions)?.directory()?.described())
    }
}
