//! Lease Blob: the five actions, on a committed blob or on one of uncommitted blocks only.

use lazuli_engine::Plan;
use lazuli_model::admission::{Kind, LeaseAction, LeaseChange, Preconditions, Subject, admit};
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Row;

use super::{BlobAddress, Place, Stamped};
use crate::fault::{Answer, Fault};
use crate::record::existing::Existing;
use crate::{Context, Services, fresh_lease_id, store};

#[derive(Clone, Debug)]
pub struct LeaseBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub action: LeaseAction,
}

impl LeaseBlob {
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
                let place = Place::find(&reader, &context.account, &input.at).await?;
                let generation = place.generation();
                let admitted = admit(
                    &row.policy,
                    &input.preconditions,
                    Kind::Blob,
                    place.existing,
                    now,
                    context.version,
                )?;
                let change = admitted.act(&input.action, fresh)?;
                let (existing, permit) = admitted.into_parts();
                let existing = existing.ok_or(ErrorCode::BlobNotFound)?;
                let target = existing.target();
                let stamped = Stamped { etag: target.etag, last_modified: target.last_modified };
                let lease = change.lease.clone();
                let mut plan = Plan::new((stamped, change));
                match existing {
                    Existing::Blob(mut blob) => {
                        blob.lease = lease;
                        store::put_blob(&mut plan, generation, &input.at.blob, *blob, permit);
                    }
                    Existing::Staged(mut staged) => {
                        staged.lease = lease;
                        store::put_staged(&mut plan, generation, &input.at.blob, &staged);
                    }
                }
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
