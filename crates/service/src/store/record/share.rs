//! A share, or a snapshot of one.

use lazuli_model::access::AccessPolicy;
use lazuli_model::admission::lease::Lease;
use lazuli_model::admission::{Subject, Target};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;

use super::path::PathRecord;
use super::{Record, stored};
use crate::blob::Stamped;
use crate::store::key::Generation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareRecord {
    pub generation: Generation,
    pub created: Timestamp,
    pub etag: ETag,
    pub last_modified: Timestamp,
    pub metadata: Metadata,
    pub policies: Vec<AccessPolicy>,
    pub lease: Option<Lease>,
    pub settings: ShareSettings,
    /// The root directory: it stands under no name.
    pub root: PathRecord,
    /// The moment of the last snapshot, whether that still is there or not; 0 when there was none.
    pub moment: u64,
    /// How many snapshots there are.
    pub snapshots: u32,
}

/// What Create Share and Set Share Properties choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareSettings {
    /// In GiB; none was given where this is none.
    pub quota: Option<u32>,
    pub tier: Option<ShareTier>,
    pub tier_changed: Option<Timestamp>,
    pub protocol: ShareProtocol,
    pub root_squash: RootSquash,
    pub snapshot_virtual_directory: Option<bool>,
    pub paid_bursting: Option<bool>,
    pub paid_bursting_iops: Option<u64>,
    pub paid_bursting_bandwidth: Option<u64>,
    pub provisioned_iops: Option<u64>,
    pub provisioned_bandwidth: Option<u64>,
    pub directory_lease: Option<bool>,
}

impl ShareSettings {
    /// In GiB: what a share may hold that was given no quota (recorded).
    const QUOTA: u32 = 5_120;

    pub fn quota(&self) -> u32 {
        self.quota.unwrap_or(Self::QUOTA)
    }

    /// Whether it was given rates of its own.
    pub fn is_provisioned(&self) -> bool {
        self.provisioned_iops.is_some() || self.provisioned_bandwidth.is_some()
    }

    pub fn tier(&self) -> ShareTier {
        self.tier.unwrap_or(ShareTier::TransactionOptimized)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareTier {
    TransactionOptimized,
    Hot,
    Cool,
    Premium,
}

impl ShareTier {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TransactionOptimized => "TransactionOptimized",
            Self::Hot => "Hot",
            Self::Cool => "Cool",
            Self::Premium => "Premium",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShareProtocol {
    #[default]
    Smb,
    Nfs,
}

impl ShareProtocol {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Smb => "SMB",
            Self::Nfs => "NFS",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootSquash {
    #[default]
    None,
    Root,
    All,
}

impl RootSquash {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "NoRootSquash",
            Self::Root => "RootSquash",
            Self::All => "AllSquash",
        }
    }
}

impl Record for ShareRecord {
    const NAME: &'static str = "share";
    type Newest = stored::share::ShareV1;
}

impl ShareRecord {
    pub fn stamped(&self) -> Stamped {
        Stamped::new(self.etag, self.last_modified)
    }

    /// Since when it has its tier.
    pub fn tier_changed(&self) -> Timestamp {
        self.settings.tier_changed.unwrap_or(self.created)
    }

    /// A change of the share itself: a new ETag, later than every one before.
    pub fn touch(&mut self, now: Timestamp) {
        self.etag = ETag(now.0.max(self.etag.0 + 1));
        self.last_modified = Timestamp(self.etag.0);
    }
}

impl Subject for ShareRecord {
    fn target(&self) -> Target<'_> {
        Target { lease: self.lease.as_ref(), ..Target::present(self.etag, self.last_modified) }
    }

    fn reset_lease(&mut self) {
        self.lease = None;
    }
}
