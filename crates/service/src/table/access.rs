//! Get Table ACL, and the same stored access policies for the judgement of a SAS.

use lazuli_model::access::{ContainerAccess, PublicAccess};

use super::find;
use crate::Services;
use crate::fault::Answer;

/// None when there is no such table.
pub async fn table_access(services: &Services, account: &str, name: &str) -> Answer<Option<ContainerAccess>> {
    let reader = services.engine().reader().await?;
    let table = find(&reader, account, name).await?;
    Ok(table.map(|table| ContainerAccess { public: PublicAccess::Private, policies: table.policies }))
}
