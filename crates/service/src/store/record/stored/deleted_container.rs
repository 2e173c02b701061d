//! A container that was deleted and can be restored.

use lazuli_model::blob::SoftDeletion;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::container::ContainerV1;
use super::first_shape;
use crate::store::record::deleted_container::DeletedContainer;

#[derive(Serialize, Deserialize)]
pub struct DeletedContainerV1 {
    container: ContainerV1,
    deleted: u64,
    until: u64,
}

first_shape!(DeletedContainerV1);

impl From<&DeletedContainer> for DeletedContainerV1 {
    fn from(record: &DeletedContainer) -> Self {
        let SoftDeletion { deleted, until } = record.deletion;
        Self { container: (&record.container).into(), deleted: deleted.0, until: until.0 }
    }
}

impl From<DeletedContainerV1> for DeletedContainer {
    fn from(stored: DeletedContainerV1) -> Self {
        let deletion = SoftDeletion { deleted: Timestamp(stored.deleted), until: Timestamp(stored.until) };
        Self { container: stored.container.into(), deletion }
    }
}
