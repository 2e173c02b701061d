//! What a container grants to those who come without a key: its public level and stored policies.

use lazuli_model::access::ContainerAccess;

use crate::Services;
use crate::fault::Answer;
use crate::store;

/// None when there is no such container.
pub async fn container_access(
    services: &Services,
    account: &str,
    name: &str,
) -> Answer<Option<ContainerAccess>> {
    let reader = services.engine().reader().await?;
    let container = store::find_container(&reader, account, name).await?;
    Ok(container
        .map(|container| ContainerAccess { public: container.public_access, policies: container.policies }))
}
