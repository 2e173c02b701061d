//! What a container grants to those who come without a key: its public level and stored policies.

use crate::fault::Answer;
use crate::record::container::{PublicAccess, StoredPolicy};
use crate::{Context, Services};

#[derive(Clone, Debug, Default)]
pub struct ContainerAccess {
    pub public: PublicAccess,
    pub policies: Vec<StoredPolicy>,
}

/// None when there is no such container.
pub async fn container_access(
    services: &Services,
    account: &str,
    name: &str,
) -> Answer<Option<ContainerAccess>> {
    let view = services.view(&Context::reading(account)).await?;
    Ok(view.container(name).await?.record().map(|container| ContainerAccess {
        public: container.fields.public_access,
        policies: container.fields.policies.clone(),
    }))
}
