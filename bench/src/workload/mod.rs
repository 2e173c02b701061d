//! The workloads by name. Each prepares what it needs in containers of its own, then measures.

mod blocks;
mod concurrency;
mod delete;
pub mod list;
pub mod transfer;

use crate::Outcome;
use crate::bare::Bare;
use crate::load::Measured;
use crate::options::Run;
use crate::servers::{Kind, Server};

/// One server on its turn.
pub struct Scene<'a> {
    pub server: &'a Server,
    /// All of them: none may still be busy when the turn begins.
    pub all: &'a [Server],
    pub run: &'a Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    PutBlob(usize),
    GetBlob(usize),
    GetBlobProperties,
    Upload,
    Download,
    PutIfMatch,
    CompareAndSwap,
    LeaseCycle,
    DeleteBlob,
    List(usize),
}

/// What the rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Operations,
    Megabytes,
    Names,
}

impl Workload {
    /// Deletion before the listings: the emulator's cost of a deletion grows with everything it holds.
    pub fn all(run: &Run) -> Vec<Self> {
        let mut all = vec![
            Self::PutBlob(1 << 10),
            Self::PutBlob(64 << 10),
            Self::PutBlob(4 << 20),
            Self::GetBlob(1 << 10),
            Self::GetBlob(64 << 10),
            Self::GetBlob(4 << 20),
            Self::GetBlobProperties,
            Self::Upload,
            Self::Download,
            Self::PutIfMatch,
            Self::CompareAndSwap,
            Self::LeaseCycle,
            Self::DeleteBlob,
            Self::List(10_000.min(run.list)),
            Self::List(run.list),
        ];
        all.dedup();
        all
    }

    pub fn name(self) -> String {
        match self {
            Self::PutBlob(size) => format!("put {}", bytes(size)),
            Self::GetBlob(size) => format!("get {}", bytes(size)),
            Self::GetBlobProperties => "head".to_owned(),
            Self::Upload => "upload 256 MiB".to_owned(),
            Self::Download => "download 256 MiB".to_owned(),
            Self::PutIfMatch => "put if-match".to_owned(),
            Self::CompareAndSwap => "cas 16 clients".to_owned(),
            Self::LeaseCycle => "lease cycle".to_owned(),
            Self::DeleteBlob => "delete".to_owned(),
            Self::List(count) => format!("list {}k", count / 1000),
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::Upload | Self::Download | Self::PutBlob(0x0040_0000..) | Self::GetBlob(0x0040_0000..) => {
                Unit::Megabytes
            }
            Self::List(_) => Unit::Names,
            _ => Unit::Operations,
        }
    }

    pub fn suits(self, kind: Kind) -> bool {
        match kind {
            Kind::Lazuli | Kind::Azurite => true,
            Kind::Bare(Bare::Log) => matches!(self, Self::PutBlob(_) | Self::Upload),
            Kind::Bare(Bare::Hyper) => {
                matches!(self, Self::PutBlob(_) | Self::GetBlob(_) | Self::GetBlobProperties | Self::Upload)
            }
        }
    }

    pub async fn run(self, scene: &Scene<'_>) -> Outcome<Measured> {
        match self {
            Self::PutBlob(size) => transfer::put(scene, size).await,
            Self::GetBlob(size) => transfer::get(scene, size).await,
            Self::GetBlobProperties => transfer::head(scene).await,
            Self::Upload => blocks::upload(scene).await,
            Self::Download => blocks::download(scene).await,
            Self::PutIfMatch => concurrency::put_if_match(scene).await,
            Self::CompareAndSwap => concurrency::compare_and_swap(scene).await,
            Self::LeaseCycle => concurrency::lease_cycle(scene).await,
            Self::DeleteBlob => delete::delete(scene).await,
            Self::List(count) => list::walk(scene, count).await,
        }
    }
}

fn bytes(size: usize) -> String {
    if size >= 1 << 20 { format!("{} MiB", size >> 20) } else { format!("{} KiB", size >> 10) }
}
