//! Get Table ACL, and the same stored access policies for the judgement of a SAS.

use lazuli_model::access::{ContainerAccess, PublicAccess};

use crate::fault::Answer;
use crate::{Context, Services};

/// None when there is no such table.
pub async fn table_access(services: &Services, account: &str, name: &str) -> Answer<Option<ContainerAccess>> {
    let found = services.view(&Context::reading(account)).await?.table(name).await?;
    let access = |policies| ContainerAccess { public: PublicAccess::Private, policies };
    Ok(found.record().map(|table| access(table.policies.clone())))
}
