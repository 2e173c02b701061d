//! A blob, base or snapshot.

use lazuli_model::blob::{BlobType, ContentHeaders, ContentMd5, CustomerKeyHash, ExplicitTier, Tier};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::tags::Tags;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::blob_extras::BlobExtrasV2;
use super::content::ContentV1;
use super::lease::LeaseV1;
use super::{Shape, first_shape, same_variants};
use crate::store::record::blob::{BlobExtras, BlobRecord};

#[derive(Serialize, Deserialize)]
pub struct BlobV1 {
    kind: BlobTypeV1,
    created: u64,
    etag: u64,
    last_modified: u64,
    content: ContentV1,
    headers: ContentHeadersV1,
    metadata: Vec<(String, String)>,
    tags: Vec<(String, String)>,
    lease: Option<LeaseV1>,
    tier: Option<ExplicitTierV1>,
    customer_key: Option<CustomerKeyV1>,
    encryption_scope: Option<String>,
    snapshots: u32,
    sequence_number: u64,
    sealed: bool,
}

first_shape!(BlobV1);

/// With what few blobs have.
#[derive(Serialize, Deserialize)]
pub struct BlobV2 {
    base: BlobV1,
    extras: Option<BlobExtrasV2>,
}

impl Shape for BlobV2 {
    const NUMBER: u8 = 2;
    type Before = BlobV1;

    fn step(base: BlobV1) -> Self {
        Self { base, extras: None }
    }
}

impl From<&BlobRecord> for BlobV2 {
    fn from(blob: &BlobRecord) -> Self {
        let extras = blob.extras.as_deref().filter(|extras| **extras != BlobExtras::default());
        Self { base: BlobV1::of(blob), extras: extras.map(BlobExtrasV2::from) }
    }
}

impl From<BlobV2> for BlobRecord {
    #[inline(always)]
    fn from(stored: BlobV2) -> Self {
        stored.base.into_record(stored.extras.map(|extras| Box::new(extras.into())))
    }
}

#[derive(Serialize, Deserialize)]
pub(super) enum BlobTypeV1 {
    Block,
    Page,
    Append,
}

same_variants!(BlobTypeV1, BlobType { Block, Page, Append });

#[derive(Serialize, Deserialize)]
pub(super) struct ContentHeadersV1 {
    content_type: Option<String>,
    content_encoding: Option<String>,
    content_language: Option<String>,
    content_disposition: Option<String>,
    cache_control: Option<String>,
    content_md5: ContentMd5V1,
}

/// The first two are written as an `Option` of a digest is, which this was in the oldest directories.
#[derive(Serialize, Deserialize)]
enum ContentMd5V1 {
    None,
    Digest([u8; 16]),
    Given(Vec<u8>),
}

#[derive(Serialize, Deserialize)]
pub(super) enum TierV1 {
    Hot,
    Cool,
    Cold,
    Archive,
    Smart,
}

same_variants!(TierV1, Tier { Hot, Cool, Cold, Archive, Smart });

#[derive(Serialize, Deserialize)]
struct ExplicitTierV1 {
    tier: TierV1,
    changed: u64,
}

#[derive(Serialize, Deserialize)]
struct CustomerKeyV1 {
    sha256: [u8; 32],
}

impl BlobV1 {
    /// What of a blob this shape has room for.
    fn of(blob: &BlobRecord) -> Self {
        let BlobRecord {
            kind,
            created,
            etag,
            last_modified,
            content,
            headers,
            metadata,
            tags,
            lease,
            tier,
            customer_key,
            encryption_scope,
            snapshots,
            sequence_number,
            sealed,
            extras: _,
        } = blob;
        Self {
            kind: (*kind).into(),
            created: created.0,
            etag: etag.0,
            last_modified: last_modified.0,
            content: content.into(),
            headers: headers.into(),
            metadata: metadata.clone().into_pairs(),
            tags: tags.clone().into_pairs(),
            lease: lease.as_ref().map(LeaseV1::from),
            tier: tier.map(|ExplicitTier { tier, changed }| ExplicitTierV1 {
                tier: tier.into(),
                changed: changed.0,
            }),
            customer_key: customer_key.map(|CustomerKeyHash(sha256)| CustomerKeyV1 { sha256 }),
            encryption_scope: encryption_scope.clone(),
            snapshots: *snapshots,
            sequence_number: *sequence_number,
            sealed: *sealed,
        }
    }
}

impl BlobV1 {
    #[inline(always)]
    fn into_record(self, extras: Option<Box<BlobExtras>>) -> BlobRecord {
        let stored = self;
        BlobRecord {
            kind: stored.kind.into(),
            created: Timestamp(stored.created),
            etag: ETag(stored.etag),
            last_modified: Timestamp(stored.last_modified),
            content: stored.content.into(),
            headers: stored.headers.into(),
            metadata: Metadata::from_stored(stored.metadata),
            tags: Tags::from_stored(stored.tags),
            lease: stored.lease.map(Into::into),
            tier: stored.tier.map(|ExplicitTierV1 { tier, changed }| ExplicitTier {
                tier: tier.into(),
                changed: Timestamp(changed),
            }),
            customer_key: stored.customer_key.map(|CustomerKeyV1 { sha256 }| CustomerKeyHash(sha256)),
            encryption_scope: stored.encryption_scope,
            snapshots: stored.snapshots,
            sequence_number: stored.sequence_number,
            sealed: stored.sealed,
            extras,
        }
    }
}

impl From<&ContentHeaders> for ContentHeadersV1 {
    fn from(headers: &ContentHeaders) -> Self {
        let ContentHeaders {
            content_type,
            content_encoding,
            content_language,
            content_disposition,
            cache_control,
            content_md5,
        } = headers.clone();
        Self {
            content_type,
            content_encoding,
            content_language,
            content_disposition,
            cache_control,
            content_md5: match content_md5 {
                ContentMd5::None => ContentMd5V1::None,
                ContentMd5::Digest(digest) => ContentMd5V1::Digest(digest),
                ContentMd5::Given(bytes) => ContentMd5V1::Given(bytes),
            },
        }
    }
}

impl From<ContentHeadersV1> for ContentHeaders {
    fn from(stored: ContentHeadersV1) -> Self {
        Self {
            content_type: stored.content_type,
            content_encoding: stored.content_encoding,
            content_language: stored.content_language,
            content_disposition: stored.content_disposition,
            cache_control: stored.cache_control,
            content_md5: match stored.content_md5 {
                ContentMd5V1::None => ContentMd5::None,
                ContentMd5V1::Digest(digest) => ContentMd5::Digest(digest),
                ContentMd5V1::Given(bytes) => ContentMd5::Given(bytes),
            },
        }
    }
}
