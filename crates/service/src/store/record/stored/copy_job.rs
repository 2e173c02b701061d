//! A copy under way.

use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::first_shape;
use crate::store::key::Generation;
use crate::store::record::copy_job::CopyJob;

#[derive(Serialize, Deserialize)]
pub struct CopyJobV1 {
    id: u128,
    account: String,
    container: String,
    generation: Generation,
    blob: String,
    until: u64,
}

first_shape!(CopyJobV1);

impl From<&CopyJob> for CopyJobV1 {
    fn from(job: &CopyJob) -> Self {
        let CopyJob { id, account, container, generation, blob, until } = job.clone();
        Self { id: id.as_u128(), account, container, generation, blob, until: until.0 }
    }
}

impl From<CopyJobV1> for CopyJob {
    fn from(stored: CopyJobV1) -> Self {
        let CopyJobV1 { id, account, container, generation, blob, until } = stored;
        Self { id: Uuid::from_u128(id), account, container, generation, blob, until: Timestamp(until) }
    }
}
