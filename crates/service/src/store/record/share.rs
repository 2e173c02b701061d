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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareTier {
    TransactionOptimized,
    Hot,
    Cool,
    Premium,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShareProtocol {
    #[default]
    Smb,
    Nfs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootSquash {
    #[default]
    None,
    Root,
    All,
}

impl Record for ShareRecord {
    const NAME: &'static str = "share";
    type Newest = stored::share::ShareV1;
}

impl ShareRecord {
    pub fn stamped(&self) -> Stamped {
        Stamped::new(self.etag, self.last_modified)
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
