//! Restore Share: a soft-deleted share comes back with all that it held.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;

use super::ShareAddress;
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct RestoreShare {
    pub at: ShareAddress,
    pub preconditions: Preconditions,
    /// Which of the deleted shares of that name: the moment of its deletion.
    pub version: Timestamp,
}

impl RestoreShare {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.share(&input.at).await?;
                let admitted = found.admit(policy::RestoreShare, &input.preconditions)?;
                admitted.restore(input.version).await
            })
            .await
    }
}
