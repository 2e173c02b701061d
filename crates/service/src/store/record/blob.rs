//! A blob, base or snapshot.

use lazuli_model::admission::lease::Lease;
use lazuli_model::admission::{Subject, Target};
use lazuli_model::blob::{BlobType, ContentHeaders, CustomerKey, ExplicitTier};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::tags::Tags;
use lazuli_model::time::Timestamp;

use super::content::Content;
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
    pub customer_key: Option<CustomerKey>,
    pub encryption_scope: Option<String>,
    /// How many snapshots stand beside the base: a plain delete is refused while there are any.
    pub snapshots: u32,
    pub sequence_number: u64,
    pub sealed: bool,
}

impl Record for BlobRecord {
    const NAME: &'static str = "blob";
    type Newest = stored::blob::BlobV1;
}

impl BlobRecord {
    pub fn stamped(&self) -> Stamped {
        Stamped { etag: self.etag, last_modified: self.last_modified }
    }

    pub fn length(&self) -> u64 {
        self.content.length
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
            tier_changed: self.tier.map(|tier| tier.changed),
            ..Target::present(self.etag, self.last_modified)
        }
    }

    fn reset_lease(&mut self) {
        self.lease = None;
    }
}
