//! A share that was deleted and can be restored.

use lazuli_model::blob::SoftDeletion;

use super::share::ShareRecord;
use super::{Record, stored};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedShare {
    pub share: ShareRecord,
    pub deletion: SoftDeletion,
}

impl Record for DeletedShare {
    const NAME: &'static str = "deleted share";
    type Newest = stored::deleted_share::DeletedShareV1;
}
