//! What a container grants to those who come without a key: its public level and stored policies.

use lazuli_model::access::ContainerAccess;

use crate::fault::Answer;
use crate::{Context, Services};

/// None when there is no such container.
pub async fn container_access(
    services: &Services,
    account: &str,
    name: &str,
) -> Answer<Option<ContainerAccess>> {
    let view = services.view(&Context::reading(account)).await?;
    Ok(view.container(name).await?.record().map(|container| ContainerAccess {
        public: container.public_access,
        policies: container.policies.clone(),
    }))
}
