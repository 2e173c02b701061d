//! Snapshots that were deleted together and are swept one after another.

use serde::{Deserialize, Serialize};

use super::Record;

/// Says that the snapshots of a name up to a moment are deleted, though their keys may still be there. A younger one
/// is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadSnapshots {
    pub up_to: u64,
}

impl Record for DeadSnapshots {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "dead snapshots";
}
