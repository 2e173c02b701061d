//! Put Blob, for block blobs: the whole content in one request.

use lazuli_model::admission::{Hold, Preconditions};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;
use lazuli_model::tags::Tags;

use super::write::refuse_archived;
use super::{BlobAddress, Digests, Stamped};
use crate::fault::Answer;
use crate::store::Existing;
use crate::store::{Bytes, NewContent};
use crate::upload::upload;
use crate::{Body, Context, Services};
use lazuli_model::blob::{BlobType, ContentHeaders, ContentMd5, CustomerKey, Tier};

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
    /// What protects it from the beginning.
    pub hold: Hold,
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
        let early = !body.is_small();
        if early {
            let view = services.view(context).await?;
            view.blob(&at).await?.judge(policy::PutBlockBlob, &preconditions)?;
        }
        let sealing = services.sealing(context, &at.container, properties.customer_key.as_ref()).await?;
        let uploaded = upload(services, body, limit, true, &sealing).await?;
        // Wrong bytes are refused after whatever the conditions refuse.
        let intact = digests.verify(&uploaded);
        if early {
            intact.clone()?;
        }
        // The stored MD5 is the one given for the blob, else the one computed.
        if properties.headers.content_md5 == ContentMd5::None {
            properties.headers.content_md5 = uploaded.md5.into();
        }
        let mut content = NewContent::of_blob(services, uploaded).await?;
        let (at, given, properties, intact, new) = (&at, &preconditions, &properties, &intact, &content);
        let stamped = services
            .commit(context, |unit| async move {
                let admitted = unit.blob(at).await?.admit(policy::PutBlockBlob, given)?;
                intact.clone()?;
                if let Some(Existing::Blob(old)) = admitted.record() {
                    refuse_archived(old)?;
                }
                admitted.replace(BlobType::Block, properties, Bytes::Uploaded(new)).await
            })
            .await?;
        content.settle();
        let uploaded = content.uploaded();
        Ok(Stored { stamped, md5: uploaded.md5, crc64: uploaded.crc64 })
    }
}
