//! Get Permission.

use lazuli_model::admission::Preconditions;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;
use lazuli_model::sddl::{PermissionKey, SecurityDescriptor};

use super::ShareAddress;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetPermission {
    pub at: ShareAddress,
    pub preconditions: Preconditions,
    pub key: PermissionKey,
}

impl GetPermission {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<SecurityDescriptor> {
        let view = services.view(context).await?;
        let share =
            view.share(&self.at).await?.admit(policy::GetPermission, &self.preconditions)?.present()?;
        let found = share.permission(self.key).await?;
        Ok(found.ok_or(ErrorCode::FileInvalidPermissionKey)?)
    }
}
