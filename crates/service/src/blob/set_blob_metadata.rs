//! Set Blob Metadata: the whole set is replaced.

use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;

use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::{Context, Services};
use lazuli_model::blob::CustomerKey;

#[derive(Clone, Debug)]
pub struct SetBlobMetadata {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub metadata: Metadata,
    pub customer_key: Option<CustomerKey>,
}

impl SetBlobMetadata {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.blob(&input.at).await?;
                let mut blob = found.admit(policy::SetBlobMetadata, &input.preconditions)?.committed()?;
                blob.check_encryption(input.customer_key.as_ref())?;
                blob.keep_version().await?;
                blob.metadata = input.metadata.clone();
                Ok(blob.put().stamped_with_version())
            })
            .await
    }
}
