//! The Table service: entities of 1 KiB, as its published target of 2,000 entities a second and partition counts them.

mod entity;
mod filter;
mod group;
mod single;

use super::{Scene, Unit};
use crate::Outcome;
use crate::load::Measured;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// A partition for each client.
    Insert,
    /// All clients into one.
    InsertOnePartition,
    Get,
    MergeIfMatch,
    GroupOf100,
    /// A hundredth of the table, all of which is the answer.
    Partition,
    /// A hundredth of the table, a hundredth of which is the answer.
    FilterPartition,
    /// A tenth of the table, a quarter of which is the answer.
    FilterTenth,
    /// All of the table, almost nothing of which is the answer.
    FilterAll,
}

impl Table {
    pub const ALL: [Self; 9] = [
        Self::Insert,
        Self::InsertOnePartition,
        Self::Get,
        Self::MergeIfMatch,
        Self::GroupOf100,
        Self::Partition,
        Self::FilterPartition,
        Self::FilterTenth,
        Self::FilterAll,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::InsertOnePartition => "insert one partition",
            Self::Get => "point get",
            Self::MergeIfMatch => "merge if-match",
            Self::GroupOf100 => "group of 100",
            Self::Partition => "query 1000 in 100k",
            Self::FilterPartition => "filter 10 of 1000 in 100k",
            Self::FilterTenth => "filter 1/4 of 10k in 100k",
            Self::FilterAll => "filter 10 of 100k",
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::GroupOf100
            | Self::Partition
            | Self::FilterPartition
            | Self::FilterTenth
            | Self::FilterAll => Unit::Entities,
            _ => Unit::Operations,
        }
    }

    pub async fn run(self, scene: &Scene<'_>) -> Outcome<Measured> {
        match self {
            Self::Insert => single::insert(scene, "inserts", |client| format!("client{client:02}")).await,
            Self::InsertOnePartition => single::insert(scene, "partition", |_| "one".to_owned()).await,
            Self::Get => single::get(scene).await,
            Self::MergeIfMatch => single::merge_if_match(scene).await,
            Self::GroupOf100 => group::insert(scene).await,
            Self::Partition => filter::whole(scene).await,
            Self::FilterPartition => filter::some(scene).await,
            Self::FilterTenth => filter::tenth(scene).await,
            Self::FilterAll => filter::all(scene).await,
        }
    }
}
