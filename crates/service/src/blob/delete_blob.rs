//! Delete Blob: the base, its snapshots, or one snapshot or version.

use lazuli_model::admission::Preconditions;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;

use super::{BlobAddress, BlobState};
use crate::fault::Answer;
use crate::store::Unit;
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
    pub state: BlobState,
    pub preconditions: Preconditions,
    pub snapshots: Option<DeleteSnapshots>,
    /// Deletes what is soft deleted already.
    pub is_permanent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Nothing of it is kept.
    pub is_permanent: bool,
}

impl DeleteBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Deleted> {
        let input = &self;
        services.giving_back().commit(context, |unit| async move { input.delete(unit).await }).await
    }

    async fn delete(&self, unit: Unit) -> Answer<Deleted> {
        let Self { at, state, preconditions: given, snapshots, is_permanent } = self;
        if *is_permanent {
            if !unit.allows_permanent_delete().await? {
                return Err(ErrorCode::PermanentDeleteIsOff.into());
            }
            let found = unit.deleted_blob(at, *state).await?;
            found.admit(policy::DeleteBlob, given)?.present()?.delete_for_good().await?;
            return Ok(Deleted { is_permanent: true });
        }
        match state {
            BlobState::Base => {
                unit.blob(at).await?.admit(policy::DeleteBlob, given)?.delete(*snapshots).await
            }
            BlobState::Snapshot(_) => {
                let found = unit.committed_blob(at, *state).await?;
                found.admit(policy::DeleteBlob, given)?.present()?.delete_snapshot().await
            }
            BlobState::Version(_) => {
                let found = unit.committed_blob(at, *state).await?;
                found.admit(policy::DeleteBlob, given)?.present()?.delete_version().await
            }
        }
    }
}
