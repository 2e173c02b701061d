//! Delete Blob: the base, its snapshots, or one snapshot.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;

use super::BlobAddress;
use crate::fault::Answer;
use crate::{Context, Services};

/// What `x-ms-delete-snapshots` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteSnapshots {
    Include,
    Only,
}

#[derive(Clone, Debug)]
pub struct DeleteBlob {
    pub at: BlobAddress,
    pub snapshot: Option<Timestamp>,
    pub preconditions: Preconditions,
    pub snapshots: Option<DeleteSnapshots>,
}

impl DeleteBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let Self { at, snapshot, preconditions: given, snapshots } = &self;
        services
            .giving_back()
            .commit(context, |unit| async move {
                match snapshot {
                    Some(_) => {
                        let found = unit.committed_blob(at, *snapshot).await?;
                        found.admit(policy::DeleteBlob, given)?.present()?.delete_snapshot().await
                    }
                    None => unit.blob(at).await?.admit(policy::DeleteBlob, given)?.delete(*snapshots).await,
                }
            })
            .await
    }
}
