//! What a queue grants to those who come with a token that leans on it: its stored policies.

use lazuli_model::access::{ContainerAccess, PublicAccess};

use crate::fault::Answer;
use crate::store::View;
use crate::{Context, Services};

/// None when there is no such queue.
pub async fn queue_access(services: &Services, account: &str, name: &str) -> Answer<Option<ContainerAccess>> {
    let access = |policies| ContainerAccess { public: PublicAccess::Private, policies };
    let read = |view: View| async move {
        Ok(view.queue(name).await?.record().map(|queue| access(queue.policies.clone())))
    };
    services.read(&Context::reading(account), read).await
}
