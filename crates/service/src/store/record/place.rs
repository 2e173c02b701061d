//! Where a node of a tree stands; and how far the sweeper has come with a snapshot of a tree that is gone.

use super::{Record, stored};
use crate::store::tree::NodeId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceRecord {
    pub parent: NodeId,
    /// The name as names are compared.
    pub folded: String,
}

impl Record for PlaceRecord {
    const NAME: &'static str = "place of a node";
    type Newest = stored::place::PlaceV1;
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoneSnapshot {
    /// The last key that was looked at; empty at the beginning.
    pub reached: Vec<u8>,
}

impl Record for GoneSnapshot {
    const NAME: &'static str = "snapshot of a tree that is gone";
    type Newest = stored::place::GoneSnapshotV1;
}
