//! What a container grants to those who come without a key: its public level and stored policies.

use lazuli_model::access::ContainerAccess;

use crate::fault::Answer;
use crate::store::View;
use crate::{Context, Services};

/// None when there is no such container.
pub async fn container_access(
    services: &Services,
    account: &str,
    name: &str,
) -> Answer<Option<ContainerAccess>> {
    let read = |view: View| async move {
        Ok(view.container(name).await?.record().map(|container| ContainerAccess {
            public: container.public_access,
            policies: container.policies.clone(),
        }))
    };
    services.read(&Context::reading(account), read).await
}
