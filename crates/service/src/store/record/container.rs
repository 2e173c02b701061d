//! A container as stored.

use lazuli_model::admission::lease::Lease;
use lazuli_model::admission::{Subject, Target};
use lazuli_model::etag::ETag;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Record;
use super::lease::StoredLease;
use crate::key::Generation;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PublicAccess {
    #[default]
    Private,
    Blob,
    Container,
}

/// A stored access policy; what is absent must be given by the token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPolicy {
    pub id: String,
    pub start: Option<u64>,
    pub expiry: Option<u64>,
    pub permission: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerFields {
    pub generation: Generation,
    pub created: u64,
    pub etag: u64,
    pub last_modified: u64,
    pub metadata: Vec<(String, String)>,
    pub public_access: PublicAccess,
    pub policies: Vec<StoredPolicy>,
    pub lease: Option<StoredLease>,
    pub default_encryption_scope: Option<String>,
    pub deny_encryption_scope_override: bool,
}

impl Record for ContainerFields {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "container";
}

/// A container as the operations see it: the stored fields with the lease in its own terms.
#[derive(Clone, Debug)]
pub struct ContainerRecord {
    pub fields: ContainerFields,
    pub lease: Option<Lease>,
}

impl ContainerRecord {
    pub fn new(fields: ContainerFields) -> Self {
        let lease = fields.lease.as_ref().map(Lease::from);
        Self { fields, lease }
    }

    /// The fields to store, the lease put back.
    pub fn stored(mut self) -> ContainerFields {
        self.fields.lease = self.lease.as_ref().map(StoredLease::from);
        self.fields
    }

    pub fn etag(&self) -> ETag {
        ETag(self.fields.etag)
    }

    pub fn last_modified(&self) -> Timestamp {
        Timestamp(self.fields.last_modified)
    }

    /// A change of the container itself: a new ETag, later than every one before.
    pub fn touch(&mut self, now: Timestamp) {
        self.fields.etag = now.0.max(self.fields.etag + 1);
        self.fields.last_modified = self.fields.etag;
    }
}

impl Subject for ContainerRecord {
    fn target(&self) -> Target<'_> {
        Target { lease: self.lease.as_ref(), ..Target::present(self.etag(), self.last_modified()) }
    }

    fn reset_lease(&mut self) {
        self.lease = None;
    }
}
