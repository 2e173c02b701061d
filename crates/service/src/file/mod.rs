//! The File service: shares, directories and files.

mod access;
mod create_share;
mod delete_share;
mod get_share_properties;
mod get_share_stats;
mod lease_share;
mod list_shares;
mod restore_share;
mod set_share_acl;
mod set_share_metadata;
mod set_share_properties;
mod snapshot_share;

// Directories and files.
mod create_directory;
mod create_file;
mod create_hard_link;
mod create_permission;
mod create_symbolic_link;
mod delete_directory;
mod delete_file;
mod get_directory_properties;
mod get_file_properties;
mod get_permission;
mod get_symbolic_link;
mod lease_file;
mod list_directories_and_files;
mod rename_file;
mod set_directory_metadata;
mod set_directory_properties;
mod set_file_metadata;
mod set_file_properties;

// The bytes of files, copies, handles.
mod abort_copy_file;
mod copy_file;
mod force_close_handles;
mod get_file;
mod list_handles;
mod list_ranges;
mod put_range;
mod put_range_from_url;

pub use access::share_access;
pub use create_share::CreateShare;
pub use delete_share::DeleteShare;
pub use get_share_properties::GetShareProperties;
pub use get_share_stats::GetShareStats;
pub use lease_share::LeaseShare;
pub use list_shares::{ListShares, ListedShare, ShareList, ShareState};
pub use restore_share::RestoreShare;
pub use set_share_acl::SetShareAcl;
pub use set_share_metadata::SetShareMetadata;
pub use set_share_properties::SetShareProperties;
pub use snapshot_share::SnapshotShare;

pub use create_directory::CreateDirectory;
pub use create_file::CreateFile;
pub use create_hard_link::CreateHardLink;
pub use create_permission::CreatePermission;
pub use create_symbolic_link::CreateSymbolicLink;
pub use delete_directory::DeleteDirectory;
pub use delete_file::DeleteFile;
pub use get_directory_properties::GetDirectoryProperties;
pub use get_file_properties::GetFileProperties;
pub use get_permission::GetPermission;
pub use get_symbolic_link::GetSymbolicLink;
pub use lease_file::LeaseFile;
pub use list_directories_and_files::ListDirectoriesAndFiles;
pub use rename_file::{RenameFile, Renamed};
pub use set_directory_metadata::SetDirectoryMetadata;
pub use set_directory_properties::SetDirectoryProperties;
pub use set_file_metadata::SetFileMetadata;
pub use set_file_properties::SetFileProperties;

pub use abort_copy_file::AbortCopyFile;
pub use copy_file::{CopyFile, FileCopied, GivenFile};
pub use force_close_handles::{Closed, ForceCloseHandles, HandlesMeant};
pub use get_file::{FileRead, GetFile};
pub use list_handles::{Handle, ListHandles};
pub use list_ranges::ListRanges;
pub use put_range::{ClearRange, PutRange, RangeStored};
pub use put_range_from_url::PutRangeFromUrl;

pub use crate::store::record::path::{ExistingPath, FileBody, FileTimes, PathBody, PathRecord, Posix};
pub use crate::store::record::share::{RootSquash, ShareProtocol, ShareRecord, ShareSettings, ShareTier};

use lazuli_model::blob::ContentHeaders;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::metadata::Metadata;
use lazuli_model::smb::{PosixWishes, SmbWishes};
use lazuli_model::time::Timestamp;

use crate::shared::marker::Position;

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

/// What Create Share and Set Share Properties choose; what is none stays as it was.
#[derive(Clone, Debug, Default)]
pub struct ShareChoices {
    /// In GiB.
    pub quota: Option<u32>,
    pub tier: Option<ShareTier>,
    pub protocol: Option<ShareProtocol>,
    pub root_squash: Option<RootSquash>,
    pub snapshot_virtual_directory: Option<bool>,
    pub paid_bursting: Option<bool>,
    pub paid_bursting_iops: Option<u64>,
    pub paid_bursting_bandwidth: Option<u64>,
    pub provisioned_iops: Option<u64>,
    pub provisioned_bandwidth: Option<u64>,
    pub directory_lease: Option<bool>,
}

impl ShareChoices {
    /// `now` is when a tier that is another one counts from: of a new share, the time of its creation does.
    pub fn apply(&self, settings: &mut ShareSettings, now: Option<Timestamp>) -> Result<(), Failure> {
        fn choose<T: Copy>(own: &mut Option<T>, chosen: Option<T>) {
            *own = chosen.or(*own);
        }
        if self.tier.is_some_and(|tier| tier != settings.tier()) {
            settings.tier_changed = now;
        }
        settings.protocol = self.protocol.unwrap_or(settings.protocol);
        if self.root_squash.is_some() && settings.protocol != ShareProtocol::Nfs {
            // Users of SMB have no root.
            return Err(ErrorCode::InvalidHeaderValue.into());
        }
        settings.root_squash = self.root_squash.unwrap_or(settings.root_squash);
        choose(&mut settings.quota, self.quota);
        choose(&mut settings.tier, self.tier);
        choose(&mut settings.snapshot_virtual_directory, self.snapshot_virtual_directory);
        choose(&mut settings.paid_bursting, self.paid_bursting);
        choose(&mut settings.paid_bursting_iops, self.paid_bursting_iops);
        choose(&mut settings.paid_bursting_bandwidth, self.paid_bursting_bandwidth);
        choose(&mut settings.provisioned_iops, self.provisioned_iops);
        choose(&mut settings.provisioned_bandwidth, self.provisioned_bandwidth);
        choose(&mut settings.directory_lease, self.directory_lease);
        Ok(())
    }
}

/// What Create File, Create Directory and Create Symbolic Link give.
#[derive(Clone, Debug)]
pub struct NewPath {
    pub smb: SmbWishes,
    /// The properties are to be as they are given, as a backup has them. Else a file is marked for the next backup, and
    /// its permission is completed by what the directory hands on.
    pub restores: bool,
    pub metadata: Metadata,
    pub posix: PosixWishes,
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

/// A directory or file, and the numbers that clients know it and the directory that it stands in by.
#[derive(Clone, Debug)]
pub struct Described {
    pub record: PathRecord,
    pub id: u64,
    pub parent_id: u64,
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

impl DirectoryPage {
    /// Where a part goes on that begins behind this name.
    pub fn behind(name: &str) -> Position {
        Position::Name { name: name.to_owned(), ticks: u64::MAX }
    }
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
