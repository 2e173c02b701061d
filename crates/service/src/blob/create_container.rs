//! Create Container.

use lazuli_model::Timestamp;
use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;

use super::Stamped;
use crate::fault::Answer;
use crate::key::Generation;
use crate::record::container::{ContainerFields, PublicAccess};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct CreateContainer {
    pub container: String,
    pub metadata: Metadata,
    pub public_access: PublicAccess,
    pub default_encryption_scope: Option<String>,
    pub deny_encryption_scope_override: bool,
}

impl CreateContainer {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let (input, given) = (&self, &Preconditions::default());
        services
            .commit(context, |unit| async move {
                let found = unit.container(&input.container).await?;
                let admitted = found.admit(policy::CreateContainer, given)?;
                Ok(admitted.create(input.fields(unit.now()))?)
            })
            .await
    }

    fn fields(&self, now: Timestamp) -> ContainerFields {
        ContainerFields {
            generation: Generation::new(now.0, rand::random()),
            created: now.0,
            etag: now.0,
            last_modified: now.0,
            metadata: self.metadata.clone().into_pairs(),
            public_access: self.public_access,
            policies: Vec::new(),
            lease: None,
            default_encryption_scope: self.default_encryption_scope.clone(),
            deny_encryption_scope_override: self.deny_encryption_scope_override,
        }
    }
}
