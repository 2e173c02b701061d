//! Put Blob, for append blobs: an empty blob that blocks are appended to.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::BlobType;
use lazuli_model::operation::policy;

use super::{BlobAddress, BlobProperties, Stamped};
use crate::fault::Answer;
use crate::store::Bytes;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct PutAppendBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub properties: BlobProperties,
}

impl PutAppendBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.blob(&input.at).await?;
                let admitted = found.admit(policy::PutAppendBlob, &input.preconditions)?;
                admitted.replace(BlobType::Append, &input.properties, Bytes::None).await
            })
            .await
    }
}
