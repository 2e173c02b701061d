//! Get Table ACL, and the same stored access policies for whoever judges a SAS.

use crate::fault::Answer;
use crate::record::container::StoredPolicy;
use crate::{Context, Services};

#[derive(Clone, Debug, Default)]
pub struct TableAccess {
    pub policies: Vec<StoredPolicy>,
}

/// None when there is no such table.
pub async fn table_access(services: &Services, account: &str, name: &str) -> Answer<Option<TableAccess>> {
    let found = services.view(&Context::reading(account)).await?.table(name).await?;
    Ok(found.record().map(|fields| TableAccess { policies: fields.policies.clone() }))
}
