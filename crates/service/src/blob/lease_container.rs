//! Lease Container: the five actions. A lease moves neither ETag nor Last-Modified, but in the oldest versions.

use lazuli_engine::Plan;
use lazuli_model::admission::{Kind, LeaseAction, LeaseChange, Preconditions, admit};
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Row;
use lazuli_model::version::Feature;

use super::Stamped;
use crate::fault::{Answer, Fault};
use crate::{Context, Services, fresh_lease_id, store};

#[derive(Clone, Debug)]
pub struct LeaseContainer {
    pub container: String,
    pub preconditions: Preconditions,
    pub action: LeaseAction,
}

impl LeaseContainer {
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
        row: &'static Row,
    ) -> Answer<(Stamped, LeaseChange)> {
        let input = &self;
        let fresh = fresh_lease_id();
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                let now = store::now(&reader);
                let found = store::find_container(&reader, &context.account, &input.container).await?;
                let admitted =
                    admit(&row.policy, &input.preconditions, Kind::Container, found, now, context.version)?;
                let change = admitted.act(&input.action, fresh)?;
                let (record, permit) = admitted.into_parts();
                let mut record = record.ok_or(ErrorCode::ContainerNotFound)?;
                record.lease.clone_from(&change.lease);
                if !context.version.has(Feature::ContainerLeaseKeepsEtag) {
                    record.touch(now);
                }
                let stamped = Stamped { etag: record.etag, last_modified: record.last_modified };
                let mut plan = Plan::new((stamped, change));
                store::put_container(&mut plan, &context.account, &input.container, record, permit);
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
