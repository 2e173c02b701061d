//! The workloads by name, by service.

pub mod blob;
mod content;
pub mod file;
mod growth;
pub mod queue;
pub mod table;

use std::net::SocketAddr;

use crate::Outcome;
use crate::load::Measured;
use crate::options::Run;
use crate::servers::{Kind, Server, Service};
use blob::Blob;
use file::File;
pub use growth::Growth;
use queue::Queue;
use table::Table;

/// One server on its turn.
pub struct Scene<'a> {
    pub server: &'a Server,
    /// Where it is asked: the service that is measured, or the other one that it is compared with.
    pub at: SocketAddr,
    /// All of them: none may still be busy when the turn begins.
    pub all: &'a [Server],
    pub run: &'a Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    Blob(Blob),
    Queue(Queue),
    Table(Table),
    File(File),
}

/// What the rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Operations,
    Megabytes,
    Names,
    Entities,
}

impl Workload {
    pub fn all(service: Service, run: &Run) -> Vec<Self> {
        match service {
            Service::Blob => Blob::all(run).into_iter().map(Self::Blob).collect(),
            Service::Queue => Queue::ALL.map(Self::Queue).into(),
            Service::Table => Table::ALL.map(Self::Table).into(),
            Service::File => File::all(run).into_iter().map(Self::File).collect(),
        }
    }

    pub fn name(self) -> String {
        match self {
            Self::Blob(blob) => blob.name(),
            Self::Queue(queue) => queue.name().to_owned(),
            Self::Table(table) => table.name().to_owned(),
            Self::File(file) => file.name(),
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::Blob(blob) => blob.unit(),
            Self::Queue(_) => Unit::Operations,
            Self::Table(table) => table.unit(),
            Self::File(file) => file.unit(),
        }
    }

    /// Bare servers know blobs only.
    pub fn suits(self, kind: Kind) -> bool {
        match self {
            Self::Blob(blob) => blob.suits(kind),
            Self::Queue(_) | Self::Table(_) => !matches!(kind, Kind::Bare(_) | Kind::Nginx),
            Self::File(_) => matches!(kind, Kind::Lazuli | Kind::Against),
        }
    }

    /// The machine's speed changes from second to second: what can be repeated is measured in turns.
    pub fn turns(self, run: &Run) -> usize {
        match self {
            _ if run.against.is_some() && self.is_repeatable() => run.seconds.ceil() as usize * 2,
            Self::Blob(
                Blob::Get(_)
                | Blob::Put(_)
                | Blob::GetProperties
                | Blob::Append
                | Blob::AppendToOne
                | Blob::PutPage,
            ) => 4,
            Self::File(File::Put(..) | File::Read(..)) => 4,
            _ => 1,
        }
    }

    /// Whether a turn leaves the server as it was, but for some blobs, and takes no longer than it is measured.
    pub fn is_repeatable(self) -> bool {
        matches!(
            self,
            Self::Blob(
                Blob::Put(_)
                    | Blob::Get(_)
                    | Blob::GetProperties
                    | Blob::Append
                    | Blob::AppendToOne
                    | Blob::PutPage
                    | Blob::PutIfMatch
                    | Blob::CompareAndSwap
                    | Blob::LeaseCycle
            ) | Self::File(File::Put(..) | File::Read(..))
        )
    }

    pub async fn run(self, scene: &Scene<'_>) -> Outcome<Measured> {
        match self {
            Self::Blob(blob) => blob.run(scene).await,
            Self::Queue(queue) => queue.run(scene).await,
            Self::Table(table) => table.run(scene).await,
            Self::File(file) => file.run(scene).await,
        }
    }
}

/// Whether cost grows with what is stored; on a server of its own.
pub async fn growth(service: Service, server: &Server, run: &Run) -> Outcome<Growth> {
    match service {
        Service::Blob => blob::growth(server, run).await,
        Service::Queue => queue::growth(server, run).await,
        Service::Table | Service::File => Err("no growth is measured of tables and files".into()),
    }
}
