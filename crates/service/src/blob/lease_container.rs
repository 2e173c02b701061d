//! Lease Container: the five actions. A lease moves neither ETag nor Last-Modified, but in the oldest versions.

use lazuli_model::admission::{LeaseAction, LeaseChange, Preconditions};
use lazuli_model::operation::{Judged, Writes};

use super::Stamped;
use crate::fault::Answer;
use crate::{Context, Services, fresh_lease_id};

#[derive(Clone, Debug)]
pub struct LeaseContainer {
    pub container: String,
    pub preconditions: Preconditions,
    pub action: LeaseAction,
}

impl LeaseContainer {
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
                let admitted = unit.container(&input.container).await?.admit(op, &input.preconditions)?;
                Ok(admitted.lease(&input.action, fresh)?)
            })
            .await
    }
}
