//! What a queue grants to those who come with a token that leans on it: its stored policies.

use crate::fault::Answer;
use crate::record::container::StoredPolicy;
use crate::{Context, Services};

/// None when there is no such queue.
pub async fn queue_access(
    services: &Services,
    account: &str,
    name: &str,
) -> Answer<Option<Vec<StoredPolicy>>> {
    let found = services.view(&Context::reading(account)).await?.queue(name).await?;
    Ok(found.record().map(|queue| queue.policies.clone()))
}
