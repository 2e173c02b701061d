//! A file, a directory or a symbolic link of a share.

use std::borrow::Cow;

use lazuli_engine::{EngineError, Value};
use lazuli_model::admission::lease::Lease;
use lazuli_model::admission::sharing::Open;
use lazuli_model::admission::{OpenState, Subject, Target};
use lazuli_model::blob::{ContentHeaders, CopyState, CopyStatus};
use lazuli_model::error::ErrorCode;
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;

use super::content::Content;
use super::{Record, stored};
use crate::blob::Stamped;
use crate::store::tree::{self, Entry, NodeId, Space};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRecord {
    pub node: NodeId,
    /// As it was spelt when it was created; empty for the root.
    pub name: String,
    /// The moment of the share's last snapshot before this was written.
    pub since: u64,
    pub etag: ETag,
    pub last_modified: Timestamp,
    pub times: FileTimes,
    /// As SMB numbers them.
    pub attributes: u32,
    /// Which of the share's security descriptors; the default of its kind where there is none.
    pub permission: Option<u128>,
    pub metadata: Metadata,
    /// Of shares for NFS.
    pub posix: Option<Posix>,
    pub body: PathBody,
}

/// The four times of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileTimes {
    pub created: Timestamp,
    pub last_written: Timestamp,
    pub changed: Timestamp,
    pub last_accessed: Timestamp,
}

impl FileTimes {
    pub fn all(now: Timestamp) -> Self {
        Self { created: now, last_written: now, changed: now, last_accessed: now }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posix {
    pub owner: u32,
    pub group: u32,
    pub mode: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathBody {
    Directory,
    File(Box<FileBody>),
    SymbolicLink {
        target: String,
    },
    /// One of several names of a file, whose record stands under its node.
    Name,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBody {
    /// Its length is the file's.
    pub content: Content,
    pub headers: ContentHeaders,
    pub lease: Option<Lease>,
    pub copy: Option<CopyState>,
    /// How many names it has.
    pub links: u32,
}

/// Attributes, as SMB numbers them.
pub const READ_ONLY: u32 = 0x01;
pub const DIRECTORY: u32 = 0x10;

impl Record for PathRecord {
    const NAME: &'static str = "file or directory";
    type Newest = stored::path::PathV1;
}

impl PathRecord {
    pub fn stamped(&self) -> Stamped {
        Stamped::new(self.etag, self.last_modified)
    }

    pub fn file(&self) -> Option<&FileBody> {
        match &self.body {
            PathBody::File(file) => Some(file),
            PathBody::Directory | PathBody::SymbolicLink { .. } | PathBody::Name => None,
        }
    }

    pub fn file_mut(&mut self) -> Option<&mut FileBody> {
        match &mut self.body {
            PathBody::File(file) => Some(file),
            PathBody::Directory | PathBody::SymbolicLink { .. } | PathBody::Name => None,
        }
    }

    pub fn is_directory(&self) -> bool {
        self.body == PathBody::Directory
    }

    /// The number that clients know it by; that of a root is 0.
    pub fn number(&self) -> u64 {
        if self.name.is_empty() { 0 } else { self.node.number() }
    }

    /// Its name as names are compared.
    pub fn folded(&self) -> Cow<'_, str> {
        Self::fold(&self.name)
    }

    pub fn length(&self) -> u64 {
        self.file().map_or(0, |file| file.content.length)
    }

    /// Bytes of the file are changed.
    pub fn note_write(&mut self, now: Timestamp, keeps_last_write_time: bool) {
        self.times.changed = now;
        if !keeps_last_write_time {
            self.times.last_written = now;
        }
    }

    /// A modification: a new ETag, later than every one before.
    pub fn touch(&mut self, now: Timestamp) {
        self.etag = ETag(now.0.max(self.etag.0 + 1));
        self.last_modified = Timestamp(self.etag.0);
    }
}

impl Entry for PathRecord {
    const SPACE: Space = Space {
        entry: b'F',
        earlier: b'P',
        by_moment: b'L',
        snapshot: b'A',
        place: Some(b'I'),
        earlier_place: Some(b'o'),
        dead: b'T',
        depth: Some(b"ld"),
    };
    const LONGEST_PATH: usize = lazuli_model::name::DEPTH_MAX;
    const TOO_DEEP: ErrorCode = ErrorCode::InvalidFileOrDirectoryPathName;
    const NOT_EMPTY: ErrorCode = ErrorCode::DirectoryNotEmpty;
    const NO_PARENT: ErrorCode = ErrorCode::ParentNotFound;
    const INTO_ITSELF: ErrorCode = ErrorCode::InvalidInput;

    fn to_value(&self) -> Value {
        self.encode()
    }

    fn from_value(value: &[u8]) -> Result<Self, EngineError> {
        Self::decode(value)
    }

    fn fold(name: &str) -> Cow<'_, str> {
        tree::upper_case(name)
    }

    fn node(&self) -> NodeId {
        self.node
    }

    fn is_directory(&self) -> bool {
        Self::is_directory(self)
    }

    fn holds_entries(&self) -> bool {
        self.is_directory() || self.body == PathBody::Name
    }

    fn is_placed(&self) -> bool {
        self.body != PathBody::Name
    }

    fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    fn since(&self) -> u64 {
        self.since
    }

    fn set_since(&mut self, moment: u64) {
        self.since = moment;
    }

    fn content(&self) -> Option<&Content> {
        self.file().map(|file| &file.content)
    }

    fn set_content(&mut self, content: Content) {
        if let Some(file) = self.file_mut() {
            file.content = content;
        }
    }
}

/// What a path stands for, with what SMB clients do to it.
#[derive(Clone, Debug)]
pub struct ExistingPath {
    pub record: PathRecord,
    pub opens: Vec<Open>,
    /// An SMB client has asked for its deletion, and it is still open.
    pub delete_pending: bool,
}

impl Subject for ExistingPath {
    fn target(&self) -> Target<'_> {
        let file = self.record.file();
        let copy = file.and_then(|file| file.copy.as_ref());
        Target {
            lease: file.and_then(|file| file.lease.as_ref()),
            length: self.record.length(),
            is_being_copied: copy.is_some_and(|copy| copy.status == CopyStatus::Pending),
            open: OpenState {
                opens: &self.opens,
                delete_pending: self.delete_pending,
                read_only: self.record.attributes & READ_ONLY != 0,
                is_directory: self.record.is_directory(),
            },
            ..Target::present(self.record.etag, self.record.last_modified)
        }
    }

    fn reset_lease(&mut self) {
        if let Some(file) = self.record.file_mut() {
            file.lease = None;
        }
    }
}
