//! The mark that snapshots of a name are deleted and not swept yet.

use serde::{Deserialize, Serialize};

use super::first_shape;
use crate::store::record::dead_snapshots::DeadSnapshots;

#[derive(Serialize, Deserialize)]
pub struct DeadSnapshotsV1 {
    up_to: u64,
}

first_shape!(DeadSnapshotsV1);

impl From<&DeadSnapshots> for DeadSnapshotsV1 {
    fn from(dead: &DeadSnapshots) -> Self {
        Self { up_to: dead.up_to }
    }
}

impl From<DeadSnapshotsV1> for DeadSnapshots {
    fn from(stored: DeadSnapshotsV1) -> Self {
        Self { up_to: stored.up_to }
    }
}
