//! Snapshot Blob: a second record over the same content.

use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;

use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::{Context, Services};
use lazuli_model::blob::CustomerKey;

#[derive(Clone, Debug)]
pub struct SnapshotBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    /// Empty: the snapshot keeps the blob's.
    pub metadata: Metadata,
    pub customer_key: Option<CustomerKey>,
}

#[derive(Clone, Copy, Debug)]
pub struct Snapshotted {
    pub snapshot: Timestamp,
    pub stamped: Stamped,
}

impl SnapshotBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Snapshotted> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let admitted =
                    unit.blob(&input.at).await?.admit(policy::SnapshotBlob, &input.preconditions)?;
                let base = admitted.committed()?;
                base.check_encryption(input.customer_key.as_ref())?;
                base.snapshot(&input.metadata).await
            })
            .await
    }
}
