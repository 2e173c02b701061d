//! Snapshot Share: one row more, however much stands in the share.

use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;

use super::ShareAddress;
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SnapshotShare {
    pub at: ShareAddress,
    pub preconditions: Preconditions,
    /// Of the snapshot; that of the share where this is empty.
    pub metadata: Metadata,
}

impl SnapshotShare {
    /// The moment that names the snapshot, and its ETag: that of the share, unless the snapshot has other metadata.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<(Timestamp, Stamped)> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.share(&input.at).await?;
                let share = found.admit(policy::SnapshotShare, &input.preconditions)?.present()?;
                Ok(share.snapshot(&input.metadata)?)
            })
            .await
    }
}
