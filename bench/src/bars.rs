//! What was promised, on a quiet machine with two cores: the server durable, 16 connections.

use crate::bare::Bare;
use crate::servers::Kind;
use crate::workload::Workload;
use crate::workload::blob::Blob;
use crate::workload::queue::Queue;
use crate::workload::table::Table;

pub struct Bar {
    pub workload: Workload,
    pub wanted: Wanted,
}

/// At least.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// So many times the other's rate.
    Times(f64, Kind),
    /// Of what the workload counts.
    PerSecond(f64),
}

const fn blob(workload: Blob, times: f64, against: Kind) -> Bar {
    Bar { workload: Workload::Blob(workload), wanted: Wanted::Times(times, against) }
}

const fn queue(workload: Queue, wanted: Wanted) -> Bar {
    Bar { workload: Workload::Queue(workload), wanted }
}

const fn table(workload: Table, wanted: Wanted) -> Bar {
    Bar { workload: Workload::Table(workload), wanted }
}

const fn azurite(times: f64) -> Wanted {
    Wanted::Times(times, Kind::Azurite)
}

/// What the service promises of one partition, and of one queue.
const PUBLISHED: Wanted = Wanted::PerSecond(2000.0);

pub const BARS: [Bar; 23] = [
    blob(Blob::Put(1 << 10), 15.0, Kind::Azurite),
    blob(Blob::Put(1 << 10), 0.5, Kind::Bare(Bare::Log)),
    blob(Blob::Get(1 << 10), 30.0, Kind::Azurite),
    blob(Blob::Get(1 << 10), 0.45, Kind::Bare(Bare::Hyper)),
    blob(Blob::Get(4 << 20), 2.5, Kind::Azurite),
    blob(Blob::Upload, 4.0, Kind::Azurite),
    blob(Blob::CompareAndSwap, 50.0, Kind::Azurite),
    blob(Blob::LeaseCycle, 15.0, Kind::Azurite),
    blob(Blob::Delete, 200.0, Kind::Azurite),
    blob(Blob::List(100_000), 20.0, Kind::Azurite),
    table(Table::Insert, azurite(5.0)),
    table(Table::InsertOnePartition, PUBLISHED),
    table(Table::Get, azurite(15.0)),
    table(Table::MergeIfMatch, azurite(5.0)),
    table(Table::GroupOf100, azurite(5.0)),
    table(Table::Partition, azurite(20.0)),
    table(Table::FilterPartition, azurite(20.0)),
    table(Table::FilterTenth, azurite(20.0)),
    queue(Queue::GetDelete(1), azurite(1000.0)),
    queue(Queue::GetDelete(16), azurite(1000.0)),
    queue(Queue::GetDelete(16), PUBLISHED),
    queue(Queue::Put, azurite(10.0)),
    queue(Queue::Put, PUBLISHED),
];

/// Times the time beside few (10,000 blobs, 100 messages) that the time beside many may be.
pub const GROWTH_AT_MOST: f64 = 1.5;
