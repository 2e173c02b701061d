//! Get Share Stats: how much the share holds.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::ShareAddress;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetShareStats {
    pub at: ShareAddress,
    pub preconditions: Preconditions,
}

impl GetShareStats {
    /// The lengths of all files together; snapshots do not count.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<u64> {
        let view = services.view(context).await?;
        let found = view.share(&self.at).await?;
        let share = found.admit(policy::GetShareStats, &self.preconditions)?.into_record()?;
        view.share_usage(&share).await
    }
}
