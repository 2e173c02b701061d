//! Snapshots that were deleted together and are swept one after another.

use super::{Record, stored};

/// Says that the snapshots of a name between two moments are deleted, though their keys may still be there: all that were not
/// soft deleted before. A younger one is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadSnapshots {
    /// Behind this moment: the keys of the older ones are deleted already.
    pub from: u64,
    pub up_to: u64,
}

impl Record for DeadSnapshots {
    const NAME: &'static str = "dead snapshots";
    type Newest = stored::dead_snapshots::DeadSnapshotsV2;
}
