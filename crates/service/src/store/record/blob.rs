//! A blob, base or snapshot, as stored.

use lazuli_model::admission::lease::Lease;
use lazuli_model::admission::{self, Subject, Target};
use lazuli_model::etag::ETag;
use lazuli_model::tags::Tags;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Record;
use super::content::Content;
use super::lease::StoredLease;
use crate::blob::Stamped;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlobType {
    Block,
    Page,
    Append,
}

impl From<BlobType> for admission::BlobType {
    fn from(kind: BlobType) -> Self {
        match kind {
            BlobType::Block => Self::Block,
            BlobType::Page => Self::Page,
            BlobType::Append => Self::Append,
        }
    }
}

/// The content headers that a blob is served with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpHeaders {
    pub content_type: Option<String>,
    pub content_encoding: Option<String>,
    pub content_language: Option<String>,
    pub content_disposition: Option<String>,
    pub cache_control: Option<String>,
    pub content_md5: ContentMd5,
}

/// The MD5 that a blob is served with. The first two are stored as an `Option` of a digest is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tier {
    Hot,
    Cool,
    Cold,
    Archive,
    Smart,
}

/// An access tier that was given; a blob without one is inferred to be hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplicitTier {
    pub tier: Tier,
    pub changed: u64,
}

/// The key of the customer that a blob was written with: only its digest is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerKey {
    pub sha256: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobFields {
    pub kind: BlobType,
    pub created: u64,
    pub etag: u64,
    pub last_modified: u64,
    pub content: Content,
    pub http: HttpHeaders,
    pub metadata: Vec<(String, String)>,
    pub tags: Vec<(String, String)>,
    pub lease: Option<StoredLease>,
    pub tier: Option<ExplicitTier>,
    pub customer_key: Option<CustomerKey>,
    pub encryption_scope: Option<String>,
    /// How many snapshots stand beside the base: a plain delete is refused while there are any.
    pub snapshots: u32,
    pub sequence_number: u64,
    pub sealed: bool,
}

impl Record for BlobFields {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "blob";
}

/// A blob as the operations see it.
#[derive(Clone, Debug)]
pub struct BlobRecord {
    pub fields: BlobFields,
    pub lease: Option<Lease>,
    pub tags: Tags,
}

impl BlobRecord {
    pub fn new(mut fields: BlobFields) -> Self {
        let lease = fields.lease.as_ref().map(Lease::from);
        let tags = Tags::from_stored(std::mem::take(&mut fields.tags));
        Self { fields, lease, tags }
    }

    /// The fields to store, lease and tags put back.
    pub fn stored(mut self) -> BlobFields {
        self.fields.lease = self.lease.as_ref().map(StoredLease::from);
        self.fields.tags = self.tags.into_pairs();
        self.fields
    }

    pub fn etag(&self) -> ETag {
        ETag(self.fields.etag)
    }

    pub fn last_modified(&self) -> Timestamp {
        Timestamp(self.fields.last_modified)
    }

    pub fn stamped(&self) -> Stamped {
        Stamped { etag: self.etag(), last_modified: self.last_modified() }
    }

    pub fn length(&self) -> u64 {
        self.fields.content.length
    }

    /// A modification: a new ETag, later than every one before.
    pub fn touch(&mut self, now: Timestamp) {
        self.fields.etag = now.0.max(self.fields.etag + 1);
        self.fields.last_modified = self.fields.etag;
    }
}

impl Subject for BlobRecord {
    fn target(&self) -> Target<'_> {
        Target {
            lease: self.lease.as_ref(),
            tags: Some(&self.tags),
            blob_type: Some(self.fields.kind.into()),
            length: self.length(),
            sequence_number: self.fields.sequence_number,
            tier_changed: self.fields.tier.map(|tier| Timestamp(tier.changed)),
            ..Target::present(self.etag(), self.last_modified())
        }
    }

    fn reset_lease(&mut self) {
        self.lease = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of before are read, and written, as they were.
    #[test]
    fn an_md5_is_stored_as_an_option_of_a_digest() {
        for digest in [None, Some([7; 16])] {
            let stored = postcard::to_stdvec(&digest).unwrap();
            assert_eq!(postcard::to_stdvec(&ContentMd5::from(digest)).unwrap(), stored);
            assert_eq!(postcard::from_bytes::<ContentMd5>(&stored).unwrap(), digest.into());
        }
    }
}
