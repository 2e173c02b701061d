//! Snapshots of a name that were soft deleted together.

use lazuli_model::blob::SoftDeletion;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::first_shape;
use crate::store::record::kept_snapshots::{KeptSnapshots, KeptTogether};

#[derive(Serialize, Deserialize)]
pub struct KeptSnapshotsV1(Vec<KeptTogetherV1>);

#[derive(Serialize, Deserialize)]
struct KeptTogetherV1 {
    from: u64,
    up_to: u64,
    deleted: u64,
    until: u64,
    count: u32,
}

first_shape!(KeptSnapshotsV1);

impl From<&KeptSnapshots> for KeptSnapshotsV1 {
    fn from(KeptSnapshots(kept): &KeptSnapshots) -> Self {
        let stored = |kept: &KeptTogether| {
            let KeptTogether { from, up_to, deletion: SoftDeletion { deleted, until }, count } = *kept;
            KeptTogetherV1 { from, up_to, deleted: deleted.0, until: until.0, count }
        };
        Self(kept.iter().map(stored).collect())
    }
}

impl From<KeptSnapshotsV1> for KeptSnapshots {
    fn from(KeptSnapshotsV1(stored): KeptSnapshotsV1) -> Self {
        let kept = |KeptTogetherV1 { from, up_to, deleted, until, count }| {
            let deletion = SoftDeletion { deleted: Timestamp(deleted), until: Timestamp(until) };
            KeptTogether { from, up_to, deletion, count }
        };
        Self(stored.into_iter().map(kept).collect())
    }
}
