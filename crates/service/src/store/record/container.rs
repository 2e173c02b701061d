//! A container.

use lazuli_model::access::{AccessPolicy, PublicAccess};
use lazuli_model::admission::lease::Lease;
use lazuli_model::admission::{Subject, Target};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;

use super::{Record, stored};
use crate::blob::Stamped;
use crate::store::key::Generation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerRecord {
    pub generation: Generation,
    pub created: Timestamp,
    pub etag: ETag,
    pub last_modified: Timestamp,
    pub metadata: Metadata,
    pub public_access: PublicAccess,
    pub policies: Vec<AccessPolicy>,
    pub lease: Option<Lease>,
    pub default_encryption_scope: Option<String>,
    pub deny_encryption_scope_override: bool,
}

impl Record for ContainerRecord {
    const NAME: &'static str = "container";
    type Newest = stored::container::ContainerV1;
}

impl ContainerRecord {
    pub fn stamped(&self) -> Stamped {
        Stamped::new(self.etag, self.last_modified)
    }

    /// A change of the container itself: a new ETag, later than every one before.
    pub fn touch(&mut self, now: Timestamp) {
        self.etag = ETag(now.0.max(self.etag.0 + 1));
        self.last_modified = Timestamp(self.etag.0);
    }
}

impl Subject for ContainerRecord {
    fn target(&self) -> Target<'_> {
        Target { lease: self.lease.as_ref(), ..Target::present(self.etag, self.last_modified) }
    }

    fn reset_lease(&mut self) {
        self.lease = None;
    }
}
