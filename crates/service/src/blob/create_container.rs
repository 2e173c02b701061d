//! Create Container.

use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;

use super::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};
use lazuli_model::access::PublicAccess;

#[derive(Clone, Debug)]
pub struct CreateContainer {
    pub container: String,
    pub metadata: Metadata,
    pub public_access: PublicAccess,
    pub default_encryption_scope: Option<String>,
    pub deny_encryption_scope_override: bool,
}

impl CreateContainer {
    /// With nothing but its name.
    pub fn private(container: &str) -> Self {
        Self {
            container: container.to_owned(),
            metadata: Metadata::default(),
            public_access: PublicAccess::Private,
            default_encryption_scope: None,
            deny_encryption_scope_override: false,
        }
    }

    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let (input, given) = (&self, &Preconditions::default());
        services
            .commit(context, |unit| async move {
                let found = unit.container(&input.container).await?;
                let admitted = found.admit(policy::CreateContainer, given)?;
                if let Some(scope) = &input.default_encryption_scope {
                    unit.features().check_scope(scope)?;
                }
                Ok(admitted.create(input)?)
            })
            .await
    }
}
