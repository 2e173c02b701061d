//! Lease File: acquire, change, release, break.

use lazuli_model::admission::{LeaseAction, LeaseChange, Preconditions};
use lazuli_model::operation::WritingOp;

use super::FileAddress;
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services, fresh_lease_id};

#[derive(Clone, Debug)]
pub struct LeaseFile {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub action: LeaseAction,
}

impl LeaseFile {
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
        op: WritingOp,
    ) -> Answer<(Stamped, LeaseChange)> {
        let (input, fresh) = (&self, fresh_lease_id());
        services
            .commit(context, |unit| async move {
                let found = unit.path(&input.at).await?;
                found.admit(op, &input.preconditions)?.lease(&input.action, fresh).await
            })
            .await
    }
}
