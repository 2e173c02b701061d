//! Lease Share: the five actions, on a share or on one of its snapshots. A lease moves neither ETag nor Last-Modified.

use lazuli_model::admission::{LeaseAction, LeaseChange, Preconditions};
use lazuli_model::operation::{Judged, Writes};

use super::ShareAddress;
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services, fresh_lease_id};

#[derive(Clone, Debug)]
pub struct LeaseShare {
    pub at: ShareAddress,
    pub preconditions: Preconditions,
    pub action: LeaseAction,
}

impl LeaseShare {
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
                let admitted = unit.share(&input.at).await?.admit(op, &input.preconditions)?;
                Ok(admitted.lease(&input.action, fresh)?)
            })
            .await
    }
}
