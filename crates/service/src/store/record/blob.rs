//! A blob, base or snapshot.

use lazuli_model::admission::lease::Lease;
use lazuli_model::admission::{Hold, Subject, Target};
use lazuli_model::blob::{
    BlobType, ContentHeaders, CopyState, CopyStatus, CustomerKeyHash, ExplicitTier, ImmutabilityPolicy,
    Rehydration, SoftDeletion,
};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::tags::Tags;
use lazuli_model::time::Timestamp;

use super::content::{Content, Shape};
use super::{Record, stored};
use crate::blob::Stamped;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobRecord {
    pub kind: BlobType,
    pub created: Timestamp,
    pub etag: ETag,
    pub last_modified: Timestamp,
    pub content: Content,
    pub headers: ContentHeaders,
    pub metadata: Metadata,
    pub tags: Tags,
    pub lease: Option<Lease>,
    pub tier: Option<ExplicitTier>,
    pub customer_key: Option<CustomerKeyHash>,
    pub encryption_scope: Option<String>,
    /// How many snapshots stand beside the base: a plain delete is refused while there are any.
    pub snapshots: u32,
    pub sequence_number: u64,
    pub sealed: bool,
    /// None where all of it has its default.
    pub extras: Option<Box<BlobExtras>>,
}

/// What few blobs have. It stands apart so that a record without it is no larger for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlobExtras {
    pub copy: Option<CopyState>,
    /// Made by Incremental Copy Blob: it can be read through its snapshots only, which do not say this.
    pub incremental_copy: bool,
    pub rehydration: Option<Rehydration>,
    /// By Set Blob Expiry.
    pub expires: Option<Timestamp>,
    pub last_accessed: Option<Timestamp>,
    pub immutability: Option<ImmutabilityPolicy>,
    pub legal_hold: bool,
    /// The id of the version that this is.
    pub version: Option<Timestamp>,
    pub deletion: Option<SoftDeletion>,
}

impl BlobExtras {
    /// Of a blob that is held from the beginning.
    pub fn held(hold: Hold) -> Option<Box<Self>> {
        let Hold { legal: legal_hold, policy: immutability } = hold;
        (hold != Hold::NONE).then(|| Box::new(Self { legal_hold, immutability, ..Self::default() }))
    }
}

impl Record for BlobRecord {
    const NAME: &'static str = "blob";
    type Newest = stored::blob::BlobV2;
}

impl BlobRecord {
    pub fn stamped(&self) -> Stamped {
        Stamped::new(self.etag, self.last_modified)
    }

    /// Of a write that may have made a version.
    pub fn stamped_with_version(&self) -> Stamped {
        Stamped { version: self.version(), ..self.stamped() }
    }

    /// The id of the version that this is.
    pub fn version(&self) -> Option<Timestamp> {
        self.extras().version
    }

    pub fn set_version(&mut self, version: Option<Timestamp>) {
        if self.version() != version {
            self.extras_mut().version = version;
        }
    }

    pub fn set_deletion(&mut self, deletion: Option<SoftDeletion>) {
        if self.extras().deletion != deletion {
            self.extras_mut().deletion = deletion;
        }
    }

    /// What is kept of it when it is no longer the base: nothing leases it, it has no snapshots and does not expire. What
    /// protects it goes on protecting it.
    pub fn past(&self) -> Self {
        let mut past = Self { lease: None, snapshots: 0, ..self.clone() };
        if let Some(extras) = &mut past.extras {
            extras.expires = None;
        }
        past
    }

    /// What few blobs have, to be looked at.
    pub fn extras(&self) -> &BlobExtras {
        const NONE: &BlobExtras = &BlobExtras {
            copy: None,
            incremental_copy: false,
            rehydration: None,
            expires: None,
            last_accessed: None,
            immutability: None,
            legal_hold: false,
            version: None,
            deletion: None,
        };
        self.extras.as_deref().unwrap_or(NONE)
    }

    /// The same, to be changed.
    pub fn extras_mut(&mut self) -> &mut BlobExtras {
        self.extras.get_or_insert_default()
    }

    /// What is kept of the base of an incremental copy is a blob like others.
    pub fn leave_incremental_copy(&mut self) {
        if let Some(extras) = &mut self.extras {
            extras.incremental_copy = false;
        }
    }

    /// The copy that is still writing it.
    pub fn pending_copy(&self) -> Option<&CopyState> {
        self.extras().copy.as_ref().filter(|copy| copy.status == CopyStatus::Pending)
    }

    /// What was stored, as it is at this moment: a rehydration that is due has brought the blob to its tier.
    #[must_use]
    #[inline]
    pub fn at(mut self, now: Timestamp) -> Self {
        if let Some(extras) = &mut self.extras
            && let Some(arrived) = extras.rehydration.take_if(|rehydration| rehydration.due <= now)
        {
            self.tier = Some(ExplicitTier { tier: arrived.to, changed: arrived.due });
        }
        self
    }

    /// What protects it from being changed and deleted.
    pub fn hold(&self) -> Hold {
        let extras = self.extras();
        Hold { legal: extras.legal_hold, policy: extras.immutability }
    }

    /// When it will be gone: not before what protects it ends.
    pub fn ends(&self) -> Option<Timestamp> {
        let expires = self.extras().expires?;
        match self.hold().ends() {
            Some(Timestamp::MAX) => None,
            Some(held) => Some(expires.max(held)),
            None => Some(expires),
        }
    }

    /// It does not expire before a hold on one of its snapshots ends: of a legal hold this is not known, so it does not expire
    /// any more.
    pub fn expire_after(&mut self, hold: &Hold) {
        if let (Some(end), Some(extras)) = (hold.ends(), &mut self.extras) {
            extras.expires = match end {
                Timestamp::MAX => None,
                end => extras.expires.map(|expires| expires.max(end)),
            };
        }
    }

    /// Its time has come: it is gone for every request, whether or not the sweeper has been there.
    #[inline]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.extras.is_some() && self.ends().is_some_and(|end| end <= now)
    }

    /// When it was last read or written, as far as is noted: reads are noted once a day.
    pub fn last_access(&self) -> Timestamp {
        self.extras().last_accessed.map_or(self.last_modified, |read| read.max(self.last_modified))
    }

    pub fn length(&self) -> u64 {
        self.content.length
    }

    /// How many blocks were appended, of an append blob.
    pub fn committed_blocks(&self) -> u32 {
        match self.content.shape {
            Shape::Manifest { blocks, .. } => blocks,
            Shape::Empty | Shape::Pieces(_) | Shape::Sparse => 0,
        }
    }

    /// A modification: a new ETag, later than every one before.
    pub fn touch(&mut self, now: Timestamp) {
        self.etag = ETag(now.0.max(self.etag.0 + 1));
        self.last_modified = Timestamp(self.etag.0);
    }
}

impl Subject for BlobRecord {
    fn target(&self) -> Target<'_> {
        Target {
            lease: self.lease.as_ref(),
            tags: Some(&self.tags),
            blob_type: Some(self.kind),
            length: self.length(),
            sequence_number: self.sequence_number,
            sealed: self.sealed,
            tier_changed: self.tier.map(|tier| tier.changed),
            is_being_copied: self.pending_copy().is_some(),
            is_incremental_copy: self.extras().incremental_copy,
            hold: self.hold(),
            ..Target::present(self.etag, self.last_modified)
        }
    }

    fn reset_lease(&mut self) {
        self.lease = None;
    }
}
