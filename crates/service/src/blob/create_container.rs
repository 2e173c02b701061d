//! Create Container.

use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;
use lazuli_model::{ETag, Timestamp};

use super::Stamped;
use crate::fault::Answer;
use crate::key::Generation;
use crate::record::container::ContainerRecord;
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
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let (input, given) = (&self, &Preconditions::default());
        services
            .commit(context, |unit| async move {
                let found = unit.container(&input.container).await?;
                let admitted = found.admit(policy::CreateContainer, given)?;
                Ok(admitted.create(input.record(unit.now()))?)
            })
            .await
    }

    fn record(&self, now: Timestamp) -> ContainerRecord {
        ContainerRecord {
            generation: Generation::new(now.0, rand::random()),
            created: now,
            etag: ETag(now.0),
            last_modified: now,
            metadata: self.metadata.clone(),
            public_access: self.public_access,
            policies: Vec::new(),
            lease: None,
            default_encryption_scope: self.default_encryption_scope.clone(),
            deny_encryption_scope_override: self.deny_encryption_scope_override,
        }
    }
}
