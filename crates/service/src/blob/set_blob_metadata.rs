//! Set Blob Metadata: the whole set is replaced.

use lazuli_model::Op;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::CustomerKey;
use lazuli_model::metadata::Metadata;

use super::write::{change_blob, check_customer_key};
use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetBlobMetadata {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub metadata: Metadata,
    pub customer_key: Option<CustomerKey>,
}

impl SetBlobMetadata {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let row = Op::SetBlobMetadata.row();
        let record = change_blob(services, context, row, &self.at, &self.preconditions, |record, now| {
            check_customer_key(record, self.customer_key.as_ref())?;
            record.metadata.clone_from(&self.metadata);
            record.touch(now);
            Ok(())
        })
        .await?;
        Ok(Stamped { etag: record.etag, last_modified: record.last_modified })
    }
}
