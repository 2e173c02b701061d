//! Set Share Properties: the quota, the tier and the other settings that the request names.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::{ShareAddress, ShareChoices, ShareSettings};
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetShareProperties {
    pub at: ShareAddress,
    pub preconditions: Preconditions,
    pub choices: ShareChoices,
}

impl SetShareProperties {
    /// What the share has now.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<(Stamped, ShareSettings)> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.share(&input.at).await?;
                let share = found.admit(policy::SetShareProperties, &input.preconditions)?.present()?;
                share.set(&input.choices).await
            })
            .await
    }
}
