//! Put Blob, for block blobs: the whole content in one request.

use lazuli_engine::Plan;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::blob::{BlobType, ContentHeaders, ContentMd5, CustomerKey, ExplicitTier, Tier};
use lazuli_model::metadata::Metadata;
use lazuli_model::tags::Tags;
use lazuli_model::time::Timestamp;
use lazuli_model::{ETag, Op};

use super::write::{admit_early, refuse_archived};
use super::{BlobAddress, Digests, Place, Stamped};
use crate::fault::{Answer, Fault};
use crate::key::ContentId;
use crate::manifest::Manifest;
use crate::record::blob::BlobRecord;
use crate::record::content::{Content, PIECES_IN_RECORD};
use crate::record::existing::Existing;
use crate::upload::upload;
use crate::{Body, Context, Services, content, store};

pub struct PutBlockBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub properties: BlobProperties,
    pub digests: Digests,
    pub body: Body,
    /// The largest body that the request's version allows.
    pub limit: u64,
}

/// What a write gives a new content: everything that it does not name is cleared.
#[derive(Clone, Debug, Default)]
pub struct BlobProperties {
    pub headers: ContentHeaders,
    pub metadata: Metadata,
    pub tags: Tags,
    pub tier: Option<Tier>,
    pub customer_key: Option<CustomerKey>,
}

#[derive(Clone, Debug)]
pub struct Stored {
    pub stamped: Stamped,
    pub md5: Option<[u8; 16]>,
    pub crc64: u64,
}

impl PutBlockBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stored> {
        let Self { at, preconditions, mut properties, digests, body, limit } = self;
        let row = Op::PutBlockBlob.row();
        let early = !body.is_small();
        if early {
            admit_early(services, context, row, &at, &preconditions).await?;
        }
        let uploaded = upload(services, body, limit, true).await?;
        // Wrong bytes are refused after whatever the conditions refuse.
        let intact = digests.verify(&uploaded);
        if early {
            intact.clone()?;
        }
        // The stored MD5 is the one given for the blob, else the one computed.
        if properties.headers.content_md5 == ContentMd5::None {
            properties.headers.content_md5 = uploaded.md5.into();
        }
        let now = services.now();
        let fresh = ContentId::fresh(now);
        let mut manifest = Manifest::of_upload(&uploaded, fresh, PIECES_IN_RECORD, now);
        if let Some(manifest) = &mut manifest {
            manifest.write_ahead(services).await?;
        }
        let body = manifest.as_ref().map_or_else(|| uploaded.content(fresh), |m| m.content.clone());

        let (at, given, properties, uploaded) = (&at, &preconditions, &properties, &uploaded);
        let (ahead, body, intact) = (&manifest, &body, &intact);
        let stamped = services
            .engine()
            .run(services.deadline(), |reader| async move {
                let now = store::now(&reader);
                let place = Place::find(&reader, &context.account, at).await?;
                let generation = place.generation();
                // The base may exist beside uncommitted blocks: both are replaced.
                let staged = match &place.existing {
                    Some(Existing::Staged(staged)) => Some(staged.clone()),
                    _ => store::find_staged(&reader, generation, &at.blob).await?,
                };
                let admitted = admit(&row.policy, given, Kind::Blob, place.existing, now, context.version)?;
                intact.clone()?;
                let (existing, permit) = admitted.into_parts();
                if let Some(Existing::Blob(old)) = &existing {
                    refuse_archived(old)?;
                }
                let record = replace(existing.as_ref(), BlobType::Block, body.clone(), properties, now);
                let stamped = Stamped { etag: record.etag, last_modified: record.last_modified };
                let mut plan = Plan::new(stamped);
                if let Some(Existing::Blob(old)) = &existing {
                    content::drop_holder(&reader, &mut plan, &old.content).await?;
                }
                if let Some(staged) = &staged {
                    store::discard_staged(&mut plan, generation, &at.blob, staged);
                }
                uploaded.publish(&mut plan);
                if let Some(manifest) = ahead {
                    manifest.publish(&reader, &mut plan).await?;
                }
                store::put_blob(&mut plan, generation, &at.blob, record, permit);
                Ok::<_, Fault>(plan)
            })
            .await?;
        if let Some(manifest) = &mut manifest {
            manifest.settle();
        }
        Ok(Stored { stamped, md5: uploaded.md5, crc64: uploaded.crc64 })
    }
}

/// The record of a new content over what was there: lease, creation time, snapshots and an explicit tier stay.
pub(super) fn replace(
    existing: Option<&Existing>,
    kind: BlobType,
    content: Content,
    properties: &BlobProperties,
    now: Timestamp,
) -> BlobRecord {
    let old = match existing {
        Some(Existing::Blob(old)) => Some(old),
        _ => None,
    };
    let etag = ETag(old.map_or(now.0, |old| now.0.max(old.etag.0 + 1)));
    let tier = match properties.tier {
        Some(tier) => Some(ExplicitTier { tier, changed: Timestamp(etag.0) }),
        None => old.and_then(|old| old.tier),
    };
    BlobRecord {
        kind,
        created: old.map_or(Timestamp(etag.0), |old| old.created),
        etag,
        last_modified: Timestamp(etag.0),
        content,
        headers: properties.headers.clone(),
        metadata: properties.metadata.clone(),
        tags: properties.tags.clone(),
        lease: existing.and_then(Existing::lease).cloned(),
        tier,
        customer_key: properties.customer_key.clone(),
        encryption_scope: None,
        snapshots: old.map_or(0, |old| old.snapshots),
        sequence_number: 0,
        sealed: false,
    }
}
