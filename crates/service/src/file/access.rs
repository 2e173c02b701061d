//! What a share grants to those who come without a key: its stored access policies.

use lazuli_model::access::{ContainerAccess, PublicAccess};

use super::ShareAddress;
use crate::fault::Answer;
use crate::store::View;
use crate::{Context, Services};

/// None when there is no such share.
pub async fn share_access(services: &Services, account: &str, name: &str) -> Answer<Option<ContainerAccess>> {
    let at = &ShareAddress { share: name.to_owned(), snapshot: None };
    let read = |view: View| async move {
        let found = view.share(at).await?;
        Ok(found
            .record()
            .map(|share| ContainerAccess { public: PublicAccess::Private, policies: share.policies.clone() }))
    };
    services.read(&Context::reading(account), read).await
}
