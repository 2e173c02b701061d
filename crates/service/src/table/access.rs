//! Get Table ACL, and the same stored access policies for whoever judges a SAS.

use super::find;
use crate::Services;
use crate::fault::Answer;
use crate::record::container::StoredPolicy;

#[derive(Clone, Debug, Default)]
pub struct TableAccess {
    pub policies: Vec<StoredPolicy>,
}

/// None when there is no such table.
pub async fn table_access(services: &Services, account: &str, name: &str) -> Answer<Option<TableAccess>> {
    let reader = services.engine().reader().await?;
    let table = find(&reader, account, name).await?;
    Ok(table.map(|fields| TableAccess { policies: fields.policies }))
}
