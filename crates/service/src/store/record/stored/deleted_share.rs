//! A share that was deleted and can be restored.

use lazuli_model::blob::SoftDeletion;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::first_shape;
use super::share::ShareV1;
use crate::store::record::deleted_share::DeletedShare;

#[derive(Serialize, Deserialize)]
pub struct DeletedShareV1 {
    share: ShareV1,
    deleted: u64,
    until: u64,
}

first_shape!(DeletedShareV1);

impl From<&DeletedShare> for DeletedShareV1 {
    fn from(record: &DeletedShare) -> Self {
        let SoftDeletion { deleted, until } = record.deletion;
        Self { share: (&record.share).into(), deleted: deleted.0, until: until.0 }
    }
}

impl From<DeletedShareV1> for DeletedShare {
    fn from(stored: DeletedShareV1) -> Self {
        let deletion = SoftDeletion { deleted: Timestamp(stored.deleted), until: Timestamp(stored.until) };
        Self { share: stored.share.into(), deletion }
    }
}
