//! The File service, each workload beside the same work on blobs of the same server: a file is compared with a page blob,
//! whose bytes lie as a file's do.

mod bytes;
mod create;
mod list;
mod rename;

use super::blob::bytes as size_of;
use super::{Scene, Unit};
use crate::Outcome;
use crate::load::Measured;
use crate::options::Run;

/// What is worked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    File,
    Blob,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// Each client in a directory of its own.
    Create(Side),
    /// All clients in one directory.
    CreateInOne(Side),
    /// So many bytes here and there.
    Put(usize, Side),
    Read(usize, Side),
    List(Side),
    /// A directory with so many files below it.
    Rename(usize),
}

impl File {
    pub fn all(run: &Run) -> Vec<Self> {
        let beside = |of: fn(Side) -> Self| [of(Side::File), of(Side::Blob)];
        let mut all = Vec::new();
        all.extend(beside(Self::Create));
        all.extend(beside(Self::CreateInOne));
        all.extend(beside(|side| Self::Put(4 << 10, side)));
        all.extend(beside(|side| Self::Put(4 << 20, side)));
        all.extend(beside(|side| Self::Read(4 << 10, side)));
        all.extend(beside(|side| Self::Read(64 << 10, side)));
        all.extend(beside(Self::List));
        all.extend([Self::Rename(10), Self::Rename(100_000.min(run.list))]);
        all
    }

    pub fn name(self) -> String {
        let of = |side, file: &str, blob: &str| match side {
            Side::File => file.to_owned(),
            Side::Blob => blob.to_owned(),
        };
        match self {
            Self::Create(side) => of(side, "create file", "create page blob"),
            Self::CreateInOne(side) => of(side, "create file, one directory", "create page blob, one prefix"),
            Self::Put(size, side) => format!("{} {}", of(side, "put range", "put page"), size_of(size)),
            Self::Read(size, side) => {
                format!("read {} of a {}", size_of(size), of(side, "file", "page blob"))
            }
            Self::List(side) => of(side, "list 10k files", "list 10k blobs"),
            Self::Rename(below) => format!("rename directory of {below}"),
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::Put(0x0040_0000.., _) => Unit::Megabytes,
            Self::List(_) => Unit::Names,
            _ => Unit::Operations,
        }
    }

    pub async fn run(self, scene: &Scene<'_>) -> Outcome<Measured> {
        let at = |side| -> Outcome<Scene<'_>> {
            let at = match side {
                Side::File => scene.server.address(),
                Side::Blob => scene.server.blobs()?,
            };
            Ok(Scene { at, ..*scene })
        };
        match self {
            Self::Create(side) => create::apart(&at(side)?, side).await,
            Self::CreateInOne(side) => create::in_one(&at(side)?, side).await,
            Self::Put(size, side) => bytes::put(&at(side)?, side, size).await,
            Self::Read(size, side) => bytes::read(&at(side)?, side, size).await,
            Self::List(side) => list::walk(&at(side)?, side).await,
            Self::Rename(below) => rename::rename(scene, below).await,
        }
    }
}

/// A share, or a container in its place.
async fn create_root(scene: &Scene<'_>, side: Side, name: &str) -> Outcome {
    use crate::request::Draft;
    use crate::wire::Connection;
    use lazuli_testing::Signer;
    let restype = match side {
        Side::File => "share",
        Side::Blob => "container",
    };
    let path = format!("/{name}");
    let request = Draft::new("PUT", &path).query("restype", restype).sign(&Signer::development());
    match Connection::open(scene.at).await?.exchange(&request).await?.status {
        201 | 409 => Ok(()),
        status => Err(format!("{path} is not created: {status}").into()),
    }
}
