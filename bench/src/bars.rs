//! What was promised, on a quiet machine with two cores: the server durable, 16 connections.

use crate::bare::Bare;
use crate::servers::Kind;
use crate::workload::Workload;

pub struct Bar {
    pub workload: Workload,
    pub against: Kind,
    /// Times the other's rate.
    pub at_least: f64,
}

const fn bar(workload: Workload, against: Kind, at_least: f64) -> Bar {
    Bar { workload, against, at_least }
}

pub const BARS: [Bar; 10] = [
    bar(Workload::PutBlob(1 << 10), Kind::Azurite, 15.0),
    bar(Workload::PutBlob(1 << 10), Kind::Bare(Bare::Log), 0.5),
    bar(Workload::GetBlob(1 << 10), Kind::Azurite, 30.0),
    bar(Workload::GetBlob(1 << 10), Kind::Bare(Bare::Hyper), 0.45),
    bar(Workload::GetBlob(4 << 20), Kind::Azurite, 2.5),
    bar(Workload::Upload, Kind::Azurite, 4.0),
    bar(Workload::CompareAndSwap, Kind::Azurite, 50.0),
    bar(Workload::LeaseCycle, Kind::Azurite, 15.0),
    bar(Workload::DeleteBlob, Kind::Azurite, 200.0),
    bar(Workload::List(100_000), Kind::Azurite, 20.0),
];

/// Times the cost with 10,000 blobs that the cost with many may be.
pub const GROWTH_AT_MOST: f64 = 1.5;
