//! What a queue grants to those who come with a token that leans on it: its stored policies.

use lazuli_model::access::{ContainerAccess, PublicAccess};

use super::stored;
use crate::Services;
use crate::fault::Answer;

/// None when there is no such queue.
pub async fn queue_access(services: &Services, account: &str, name: &str) -> Answer<Option<ContainerAccess>> {
    let reader = services.engine().reader().await?;
    let queue = stored::find_queue(&reader, account, name).await?;
    Ok(queue.map(|queue| ContainerAccess { public: PublicAccess::Private, policies: queue.policies }))
}
