//! A copy under way: the server that moves its bytes says at intervals that it is still there.

use lazuli_model::time::Timestamp;

use super::{Record, stored};
use crate::store::key::Generation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyJob {
    pub id: uuid::Uuid,
    pub account: String,
    pub container: String,
    pub generation: Generation,
    pub blob: String,
    /// A job that was not prolonged until then has lost its server: the sweeper ends it.
    pub until: Timestamp,
}

impl Record for CopyJob {
    const NAME: &'static str = "copy job";
    type Newest = stored::copy_job::CopyJobV1;
}
