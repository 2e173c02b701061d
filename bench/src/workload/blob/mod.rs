//! The Blob service. Each workload prepares what it needs in containers of its own, then measures.

mod append;
mod blocks;
mod concurrency;
mod copy;
mod delete;
mod growth;
mod list;
mod pages;
mod transfer;

pub use growth::measure as growth;
pub use list::next_marker;

use super::{Scene, Unit};
use crate::Outcome;
use crate::bare::Bare;
use crate::load::Measured;
use crate::options::Run;
use crate::servers::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blob {
    Put(usize),
    Get(usize),
    GetProperties,
    Append,
    AppendToOne,
    PutPage,
    /// Of a page blob of so many bytes.
    Snapshot(usize),
    /// Within the server, of a block blob of so many bytes.
    Copy(usize),
    Upload,
    Download,
    PutIfMatch,
    CompareAndSwap,
    LeaseCycle,
    Delete,
    List(usize),
}

impl Blob {
    /// Deletion before the listings: the emulator's cost of a deletion grows with everything it holds.
    pub fn all(run: &Run) -> Vec<Self> {
        let mut all = vec![
            Self::Put(1 << 10),
            Self::Put(64 << 10),
            Self::Put(4 << 20),
            Self::Get(1 << 10),
            Self::Get(64 << 10),
            Self::Get(4 << 20),
            Self::GetProperties,
            Self::Append,
            Self::AppendToOne,
            Self::PutPage,
            Self::Snapshot(0),
            Self::Snapshot(1 << 30),
            Self::Copy(64 << 10),
            Self::Copy(256 << 20),
            Self::Upload,
            Self::Download,
            Self::PutIfMatch,
            Self::CompareAndSwap,
            Self::LeaseCycle,
            Self::Delete,
            Self::List(10_000.min(run.list)),
            Self::List(run.list),
        ];
        all.dedup();
        all
    }

    pub fn name(self) -> String {
        match self {
            Self::Put(size) => format!("put {}", bytes(size)),
            Self::Get(size) => format!("get {}", bytes(size)),
            Self::GetProperties => "head".to_owned(),
            Self::Append => format!("append {}", bytes(append::BLOCK)),
            Self::AppendToOne => format!("append {}, {} to one blob", bytes(append::BLOCK), append::CLIENTS),
            Self::PutPage => format!("put page {}", bytes(pages::PAGE)),
            Self::Snapshot(size) => format!("snapshot page blob {}", bytes(size)),
            Self::Copy(size) => format!("copy {}", bytes(size)),
            Self::Upload => "upload 256 MiB".to_owned(),
            Self::Download => "download 256 MiB".to_owned(),
            Self::PutIfMatch => "put if-match".to_owned(),
            Self::CompareAndSwap => "cas 16 clients".to_owned(),
            Self::LeaseCycle => "lease cycle".to_owned(),
            Self::Delete => "delete".to_owned(),
            Self::List(count) => format!("list {}k", count / 1000),
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::Upload | Self::Download | Self::Put(0x0040_0000..) | Self::Get(0x0040_0000..) => {
                Unit::Megabytes
            }
            Self::List(_) => Unit::Names,
            _ => Unit::Operations,
        }
    }

    pub fn suits(self, kind: Kind) -> bool {
        match kind {
            Kind::Lazuli | Kind::Against | Kind::Azurite => true,
            Kind::Nginx => matches!(self, Self::Get(_)),
            Kind::Bare(Bare::Log) => {
                matches!(self, Self::Put(_) | Self::Upload | Self::Append | Self::AppendToOne | Self::PutPage)
            }
            Kind::Bare(Bare::Hyper) => {
                matches!(self, Self::Put(_) | Self::Get(_) | Self::GetProperties | Self::Upload)
            }
        }
    }

    pub async fn run(self, scene: &Scene<'_>) -> Outcome<Measured> {
        match self {
            Self::Put(size) => transfer::put(scene, size).await,
            Self::Get(size) => transfer::get(scene, size).await,
            Self::GetProperties => transfer::head(scene).await,
            Self::Append => append::each_its_own(scene).await,
            Self::AppendToOne => append::all_to_one(scene).await,
            Self::PutPage => pages::put_page(scene).await,
            Self::Snapshot(size) => pages::snapshot(scene, size).await,
            Self::Copy(size) => copy::copy(scene, size).await,
            Self::Upload => blocks::upload(scene).await,
            Self::Download => blocks::download(scene).await,
            Self::PutIfMatch => concurrency::put_if_match(scene).await,
            Self::CompareAndSwap => concurrency::compare_and_swap(scene).await,
            Self::LeaseCycle => concurrency::lease_cycle(scene).await,
            Self::Delete => delete::delete(scene).await,
            Self::List(count) => list::walk(scene, count).await,
        }
    }
}

pub fn bytes(size: usize) -> String {
    match size {
        0x4000_0000.. => format!("{} GiB", size >> 30),
        0x0010_0000.. => format!("{} MiB", size >> 20),
        _ => format!("{} KiB", size >> 10),
    }
}
