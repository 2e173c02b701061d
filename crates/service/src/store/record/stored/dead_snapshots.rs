//! The mark that snapshots of a name are deleted and not swept yet.

use serde::{Deserialize, Serialize};

use super::{Shape, first_shape};
use crate::store::record::dead_snapshots::DeadSnapshots;

#[derive(Serialize, Deserialize)]
pub struct DeadSnapshotsV1 {
    up_to: u64,
}

first_shape!(DeadSnapshotsV1);

#[derive(Serialize, Deserialize)]
pub struct DeadSnapshotsV2 {
    up_to: u64,
    from: u64,
}

impl Shape for DeadSnapshotsV2 {
    const NUMBER: u8 = 2;
    type Before = DeadSnapshotsV1;

    /// It was not said how many of them were swept.
    fn step(DeadSnapshotsV1 { up_to }: DeadSnapshotsV1) -> Self {
        Self { up_to, from: 0 }
    }
}

impl From<&DeadSnapshots> for DeadSnapshotsV2 {
    fn from(DeadSnapshots { from, up_to }: &DeadSnapshots) -> Self {
        Self { up_to: *up_to, from: *from }
    }
}

impl From<DeadSnapshotsV2> for DeadSnapshots {
    fn from(DeadSnapshotsV2 { up_to, from }: DeadSnapshotsV2) -> Self {
        Self { from, up_to }
    }
}
