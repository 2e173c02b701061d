//! What a queue grants to those who come with a token that leans on it: its stored policies.

use super::stored;
use crate::Services;
use crate::fault::Answer;
use crate::record::container::StoredPolicy;

/// None when there is no such queue.
pub async fn queue_access(
    services: &Services,
    account: &str,
    name: &str,
) -> Answer<Option<Vec<StoredPolicy>>> {
    let reader = services.engine().reader().await?;
    Ok(stored::find_queue(&reader, account, name).await?.map(|queue| queue.policies))
}
