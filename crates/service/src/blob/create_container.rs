//! Create Container.

use lazuli_engine::Plan;
use lazuli_model::access::PublicAccess;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::{ETag, Op, Timestamp};

use super::Stamped;
use crate::fault::{Answer, Fault};
use crate::key::Generation;
use crate::record::container::ContainerRecord;
use crate::{Context, Services, store};

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
        let input = &self;
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                let now = store::now(&reader);
                let found = store::find_container(&reader, &context.account, &input.container).await?;
                if found.is_some() {
                    return Err(ErrorCode::ContainerAlreadyExists.into());
                }
                let row = Op::CreateContainer.row();
                let given = Preconditions::default();
                let admitted = admit::<ContainerRecord>(
                    &row.policy,
                    &given,
                    Kind::Container,
                    None,
                    now,
                    context.version,
                )?;
                let record = input.record(now);
                let mut plan = Plan::new(Stamped { etag: ETag(now.0), last_modified: now });
                let (_, permit) = admitted.into_parts();
                store::put_container(&mut plan, &context.account, &input.container, record, permit);
                Ok::<_, Fault>(plan)
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
