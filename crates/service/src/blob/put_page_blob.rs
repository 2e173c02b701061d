//! Put Blob, for page blobs: a blob of zeros of a given length.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::BlobType;
use lazuli_model::operation::policy;

use super::put_blob::BlobProperties;
use super::write::refuse_archived;
use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::store::{Bytes, Existing};
use crate::{Context, Services};

pub struct PutPageBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub properties: BlobProperties,
    pub length: u64,
    pub sequence_number: u64,
}

impl PutPageBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.blob(&input.at).await?;
                let admitted = found.admit(policy::PutPageBlob, &input.preconditions)?;
                if let Some(Existing::Blob(old)) = admitted.record() {
                    refuse_archived(old)?;
                }
                let pages = Bytes::Pages { length: input.length, sequence_number: input.sequence_number };
                admitted.replace(BlobType::Page, &input.properties, pages).await
            })
            .await
    }
}
