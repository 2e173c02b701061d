//! Lease Blob: the five actions, on a committed blob or on one of uncommitted blocks only.

use lazuli_model::admission::{LeaseAction, LeaseChange, Preconditions};
use lazuli_model::operation::{Judged, Writes};

use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::{Context, Services, fresh_lease_id};

#[derive(Clone, Debug)]
pub struct LeaseBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub action: LeaseAction,
}

impl LeaseBlob {
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
        op: impl Judged<Mode = Writes>,
    ) -> Answer<(Stamped, LeaseChange)> {
        let input = &self;
        let fresh = fresh_lease_id();
        services
            .commit(context, |unit| async move {
                let admitted = unit.blob(&input.at).await?.admit(op, &input.preconditions)?;
                Ok(admitted.lease(&input.action, fresh)?)
            })
            .await
    }
}
