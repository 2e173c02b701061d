//! Snapshots of a name that were soft deleted together.

use lazuli_model::blob::SoftDeletion;

use super::{Record, stored};

/// The oldest first. They do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptSnapshots(pub Vec<KeptTogether>);

/// All snapshots that were alive when they were soft deleted, without a word in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptTogether {
    /// Behind this moment.
    pub from: u64,
    pub up_to: u64,
    pub deletion: SoftDeletion,
    /// How many they are.
    pub count: u32,
}

impl Record for KeptSnapshots {
    const NAME: &'static str = "kept snapshots";
    type Newest = stored::kept_snapshots::KeptSnapshotsV1;
}
