//! Create Permission: a security descriptor is kept in the share, and known by its key from then on.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::sddl::{PermissionKey, SecurityDescriptor};

use super::ShareAddress;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct CreatePermission {
    pub at: ShareAddress,
    pub preconditions: Preconditions,
    pub permission: SecurityDescriptor,
}

impl CreatePermission {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<PermissionKey> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.share(&input.at).await?;
                let share = found.admit(policy::CreatePermission, &input.preconditions)?.present()?;
                share.keep_permission(&input.permission).await
            })
            .await
    }
}
