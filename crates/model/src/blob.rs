//! What a blob says about itself, in the words of the service's reference.

pub use crate::encryption::{CustomerKey, CustomerKeyHash};
use crate::error::ErrorCode;
use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlobType {
    Block,
    Page,
    Append,
}

impl BlobType {
    /// As `x-ms-blob-type` has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "BlockBlob",
            Self::Page => "PageBlob",
            Self::Append => "AppendBlob",
        }
    }
}

/// Access tiers of block blobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    Hot,
    Cool,
    Cold,
    Archive,
    Smart,
}

impl Tier {
    /// As `x-ms-access-tier` has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hot => "Hot",
            Self::Cool => "Cool",
            Self::Cold => "Cold",
            Self::Archive => "Archive",
            Self::Smart => "Smart",
        }
    }
}

impl Tier {
    /// `x-ms-archive-status` of a blob that leaves the archive for this tier.
    pub const fn archive_status(self) -> &'static str {
        match self {
            Self::Hot => "rehydrate-pending-to-hot",
            Self::Cool => "rehydrate-pending-to-cool",
            Self::Cold => "rehydrate-pending-to-cold",
            Self::Archive => "rehydrate-pending-to-archive",
            Self::Smart => "rehydrate-pending-to-smart",
        }
    }
}

/// An access tier that was given; a blob without one is inferred to be hot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplicitTier {
    pub tier: Tier,
    pub changed: Timestamp,
}

/// The headers that a blob is served with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentHeaders {
    pub content_type: Option<String>,
    pub content_encoding: Option<String>,
    pub content_language: Option<String>,
    pub content_disposition: Option<String>,
    pub cache_control: Option<String>,
    pub content_md5: ContentMd5,
}

/// The MD5 that a blob is served with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ContentMd5 {
    #[default]
    None,
    Digest([u8; 16]),
    /// No digest at all: Set Blob Properties and Put Block List keep whatever they are given.
    Given(Vec<u8>),
}

impl ContentMd5 {
    pub fn of(bytes: Vec<u8>) -> Self {
        match <[u8; 16]>::try_from(bytes) {
            Ok(digest) => Self::Digest(digest),
            Err(bytes) => Self::Given(bytes),
        }
    }

    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::None => None,
            Self::Digest(digest) => Some(digest),
            Self::Given(bytes) => Some(bytes),
        }
    }
}

impl From<Option<[u8; 16]>> for ContentMd5 {
    fn from(digest: Option<[u8; 16]>) -> Self {
        digest.map_or(Self::None, Self::Digest)
    }
}

/// How far a copy has come: `x-ms-copy-status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStatus {
    Pending,
    Success,
    Aborted,
    Failed,
}

impl CopyStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Success => "success",
            Self::Aborted => "aborted",
            Self::Failed => "failed",
        }
    }
}

/// The last copy that wrote a blob, as its `x-ms-copy-*` headers tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyState {
    pub id: uuid::Uuid,
    /// As it was given, without a signature.
    pub source: String,
    pub status: CopyStatus,
    pub copied: u64,
    pub total: u64,
    /// When it ended, however it did.
    pub completed: Option<Timestamp>,
    /// Why it failed.
    pub description: Option<String>,
    /// Of an incremental copy: the snapshot that it made.
    pub destination_snapshot: Option<Timestamp>,
}

/// `x-ms-rehydrate-priority`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RehydratePriority {
    #[default]
    Standard,
    High,
}

impl RehydratePriority {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "Standard",
            Self::High => "High",
        }
    }
}

/// An archived blob on its way to an online tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rehydration {
    pub to: Tier,
    pub priority: RehydratePriority,
    /// When it is there.
    pub due: Timestamp,
}

/// `x-ms-immutability-policy-mode`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImmutabilityMode {
    Unlocked,
    Locked,
}

impl ImmutabilityMode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unlocked => "unlocked",
            Self::Locked => "locked",
        }
    }
}

/// Until when a blob may be neither changed nor deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImmutabilityPolicy {
    pub until: Timestamp,
    pub mode: ImmutabilityMode,
}

impl ImmutabilityPolicy {
    /// Refuses to put another policy in the place of this one. A locked one can be prolonged, and nothing else.
    pub fn permits(self, next: Self) -> Result<(), ErrorCode> {
        let prolongs = next.mode == ImmutabilityMode::Locked && next.until >= self.until;
        match self.mode {
            ImmutabilityMode::Locked if !prolongs => Err(ErrorCode::BlobImmutableDueToPolicy),
            _ => Ok(()),
        }
    }

    /// Refuses to take it away.
    pub fn permits_removal(self) -> Result<(), ErrorCode> {
        match self.mode {
            ImmutabilityMode::Locked => Err(ErrorCode::ImmutabilityPolicyDeleteOnLockedPolicy),
            ImmutabilityMode::Unlocked => Ok(()),
        }
    }
}

/// When a blob is to be gone, as Set Blob Expiry says it: `x-ms-expiry-option` with its `x-ms-expiry-time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    Never,
    /// Milliseconds after the blob was created.
    AfterCreation(u64),
    /// Milliseconds from now.
    FromNow(u64),
    At(Timestamp),
}

impl Expiry {
    /// The moment, of a blob that was created then.
    pub fn moment(self, created: Timestamp, now: Timestamp) -> Option<Timestamp> {
        const TICKS: u64 = 10_000;
        let after = |start: Timestamp, milliseconds: u64| {
            Timestamp(start.0.saturating_add(milliseconds.saturating_mul(TICKS))).min(Timestamp::MAX)
        };
        match self {
            Self::Never => None,
            Self::AfterCreation(milliseconds) => Some(after(created, milliseconds)),
            Self::FromNow(milliseconds) => Some(after(now, milliseconds)),
            Self::At(moment) => Some(moment),
        }
    }
}

/// A blob, snapshot or version that was deleted and can be brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoftDeletion {
    pub deleted: Timestamp,
    /// When it is gone for good.
    pub until: Timestamp,
}
