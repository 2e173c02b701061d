//! What was promised, on a quiet machine with two cores: the server durable, 16 connections.

use crate::bare::Bare;
use crate::servers::Kind;
use crate::workload::Workload;
use crate::workload::blob::Blob;
use crate::workload::file::{File, Side};
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
    /// So many times our own rate of another workload.
    TimesOf(f64, Workload),
}

const fn blob(workload: Blob, times: f64, against: Kind) -> Bar {
    Bar { workload: Workload::Blob(workload), wanted: Wanted::Times(times, against) }
}

const fn as_fast(workload: Blob, as_other: Blob) -> Bar {
    Bar { workload: Workload::Blob(workload), wanted: Wanted::TimesOf(AS_FAST, Workload::Blob(as_other)) }
}

const fn queue(workload: Queue, wanted: Wanted) -> Bar {
    Bar { workload: Workload::Queue(workload), wanted }
}

const fn table(workload: Table, wanted: Wanted) -> Bar {
    Bar { workload: Workload::Table(workload), wanted }
}

const fn file(workload: File, beside: File) -> Bar {
    Bar { workload: Workload::File(workload), wanted: Wanted::TimesOf(BESIDE_BLOBS, Workload::File(beside)) }
}

const fn azurite(times: f64) -> Wanted {
    Wanted::Times(times, Kind::Azurite)
}

/// What the service promises of one partition, and of one queue.
const PUBLISHED: Wanted = Wanted::PerSecond(2000.0);

/// The time of the smaller one, as exactly as two turns can be compared.
const AS_FAST: f64 = 0.8;

/// What is done to files takes at most 1.3 times as long as the same done to blobs.
const BESIDE_BLOBS: f64 = 1.0 / 1.3;

pub const BARS: &[Bar] = &[
    file(File::Create(Side::File), File::Create(Side::Blob)),
    file(File::CreateInOne(Side::File), File::CreateInOne(Side::Blob)),
    file(File::Put(4 << 10, Side::File), File::Put(4 << 10, Side::Blob)),
    file(File::Put(4 << 20, Side::File), File::Put(4 << 20, Side::Blob)),
    file(File::Read(4 << 10, Side::File), File::Read(4 << 10, Side::Blob)),
    file(File::Read(64 << 10, Side::File), File::Read(64 << 10, Side::Blob)),
    file(File::List(Side::File), File::List(Side::Blob)),
    Bar {
        workload: Workload::File(File::Rename(100_000)),
        wanted: Wanted::TimesOf(AS_FAST, Workload::File(File::Rename(10))),
    },
    blob(Blob::Put(1 << 10), 15.0, Kind::Azurite),
    blob(Blob::Put(1 << 10), 0.5, Kind::Bare(Bare::Log)),
    blob(Blob::Get(1 << 10), 30.0, Kind::Azurite),
    blob(Blob::Get(1 << 10), 0.45, Kind::Bare(Bare::Hyper)),
    blob(Blob::Put(64 << 10), 0.65, Kind::Bare(Bare::Log)),
    blob(Blob::Get(64 << 10), 0.75, Kind::Nginx),
    blob(Blob::Get(4 << 20), 2.5, Kind::Azurite),
    blob(Blob::Append, 20.0, Kind::Azurite),
    Bar { workload: Workload::Blob(Blob::AppendToOne), wanted: Wanted::PerSecond(3000.0) },
    blob(Blob::PutPage, 20.0, Kind::Azurite),
    as_fast(Blob::Snapshot(1 << 30), Blob::Snapshot(0)),
    as_fast(Blob::Copy(256 << 20), Blob::Copy(64 << 10)),
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
