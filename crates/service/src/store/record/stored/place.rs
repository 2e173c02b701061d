//! Where a node of a tree stands; and how far the sweeper has come with a snapshot of a tree that is gone.

use serde::{Deserialize, Serialize};

use super::first_shape;
use crate::store::record::place::{GoneSnapshot, PlaceRecord};
use crate::store::tree::NodeId;

#[derive(Serialize, Deserialize)]
pub struct PlaceV1 {
    parent: u128,
    folded: String,
}

#[derive(Serialize, Deserialize)]
pub struct GoneSnapshotV1 {
    reached: Vec<u8>,
}

first_shape!(PlaceV1, GoneSnapshotV1);

impl From<&PlaceRecord> for PlaceV1 {
    fn from(place: &PlaceRecord) -> Self {
        let PlaceRecord { parent, folded } = place;
        Self { parent: parent.0, folded: folded.clone() }
    }
}

impl From<PlaceV1> for PlaceRecord {
    fn from(stored: PlaceV1) -> Self {
        Self { parent: NodeId(stored.parent), folded: stored.folded }
    }
}

impl From<&GoneSnapshot> for GoneSnapshotV1 {
    fn from(gone: &GoneSnapshot) -> Self {
        Self { reached: gone.reached.clone() }
    }
}

impl From<GoneSnapshotV1> for GoneSnapshot {
    fn from(stored: GoneSnapshotV1) -> Self {
        Self { reached: stored.reached }
    }
}
