//! What a share grants to those who come without a key: its stored access policies.

use lazuli_model::access::{ContainerAccess, PublicAccess};

use super::ShareAddress;
use crate::fault::Answer;
use crate::{Context, Services};

/// None when there is no such share.
pub async fn share_access(services: &Services, account: &str, name: &str) -> Answer<Option<ContainerAccess>> {
    let view = services.view(&Context::reading(account)).await?;
    let at = ShareAddress { share: name.to_owned(), snapshot: None };
    Ok(view
        .share(&at)
        .await?
        .record()
        .map(|share| ContainerAccess { public: PublicAccess::Private, policies: share.policies.clone() }))
}
