//! Set Container Metadata.

use lazuli_model::Op;
use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;

use super::Stamped;
use super::write::change_container;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetContainerMetadata {
    pub container: String,
    pub preconditions: Preconditions,
    pub metadata: Metadata,
}

impl SetContainerMetadata {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let row = Op::SetContainerMetadata.row();
        change_container(services, context, row, &self.container, &self.preconditions, |record, now| {
            record.metadata.clone_from(&self.metadata);
            record.touch(now);
        })
        .await
    }
}
