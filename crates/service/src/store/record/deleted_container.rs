//! A container that was deleted and can be restored.

use lazuli_model::blob::SoftDeletion;

use super::container::ContainerRecord;
use super::{Record, stored};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedContainer {
    pub container: ContainerRecord,
    pub deletion: SoftDeletion,
}

impl Record for DeletedContainer {
    const NAME: &'static str = "deleted container";
    type Newest = stored::deleted_container::DeletedContainerV1;
}
