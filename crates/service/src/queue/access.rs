//! What a queue grants to those who come with a token that leans on it: its stored policies.

use lazuli_model::access::{ContainerAccess, PublicAccess};

use crate::fault::Answer;
use crate::{Context, Services};

/// None when there is no such queue.
pub async fn queue_access(services: &Services, account: &str, name: &str) -> Answer<Option<ContainerAccess>> {
    let found = services.view(&Context::reading(account)).await?.queue(name).await?;
    let access = |policies| ContainerAccess { public: PublicAccess::Private, policies };
    Ok(found.record().map(|queue| access(queue.policies.clone())))
}
