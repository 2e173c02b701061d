//! The File service: shares, directories and files.

mod get_file;

pub use get_file::GetFile;

pub use crate::store::record::path::{ExistingPath, FileBody, FileTimes, PathBody, PathRecord, Posix};
pub use crate::store::record::share::{RootSquash, ShareProtocol, ShareRecord, ShareSettings, ShareTier};

use lazuli_model::blob::ContentHeaders;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;

/// Which share, or which of its snapshots.
#[derive(Clone, Debug)]
pub struct ShareAddress {
    pub share: String,
    pub snapshot: Option<Timestamp>,
}

/// Which file or directory. The path of no name is the root directory.
#[derive(Clone, Debug)]
pub struct FileAddress {
    pub share: String,
    pub snapshot: Option<Timestamp>,
    pub path: Vec<String>,
}

/// What Create Share gives.
#[derive(Clone, Debug, Default)]
pub struct NewShare {
    pub metadata: Metadata,
    pub settings: ShareSettings,
}

/// What Create File, Create Directory and Create Symbolic Link give.
#[derive(Clone, Debug)]
pub struct NewPath {
    pub times: FileTimes,
    /// As SMB numbers them.
    pub attributes: u32,
    pub permission: Option<u128>,
    pub metadata: Metadata,
    pub posix: Option<Posix>,
    pub body: NewBody,
}

#[derive(Clone, Debug)]
pub enum NewBody {
    Directory,
    /// Of so many zeros.
    File {
        length: u64,
        headers: ContentHeaders,
    },
    SymbolicLink {
        target: String,
    },
}

/// What becomes of the snapshots of a share that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteShareSnapshots {
    Include,
    /// Those that are leased too.
    IncludeLeased,
}

/// A part of a directory, in the order of the names as they are compared.
#[derive(Debug)]
pub struct DirectoryPage {
    pub entries: Vec<PathRecord>,
    /// Where the next part begins: behind this name, as names are compared.
    pub next: Option<String>,
}

/// A range of a file in which bytes were written, or since a snapshot were cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange {
    pub start: u64,
    pub end: u64,
    pub cleared: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRanges {
    pub ranges: Vec<FileRange>,
    /// Where to go on when there are more than were asked for.
    pub next: Option<u64>,
}
