//! Snapshot Blob: a second record over the same content.

use lazuli_engine::Plan;
use lazuli_model::Op;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;

use super::write::check_customer_key;
use super::{BlobAddress, Place, Stamped};
use crate::fault::{Answer, Fault};
use crate::record::Record;
use crate::record::blob::CustomerKey;
use crate::{Context, Services, content, key, store};

#[derive(Clone, Debug)]
pub struct SnapshotBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    /// Empty: the snapshot keeps the blob's.
    pub metadata: Metadata,
    pub customer_key: Option<CustomerKey>,
}

#[derive(Clone, Copy, Debug)]
pub struct Snapshotted {
    pub snapshot: Timestamp,
    pub stamped: Stamped,
}

impl SnapshotBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Snapshotted> {
        let input = &self;
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                let now = store::now(&reader);
                let place = Place::find(&reader, &context.account, &input.at).await?;
                let generation = place.generation();
                let row = Op::SnapshotBlob.row();
                let admitted =
                    admit(row, &input.preconditions, Kind::Blob, place.existing, now, context.version)?;
                let (existing, permit) = admitted.into_parts();
                let mut base =
                    existing.and_then(|existing| existing.blob()).ok_or(ErrorCode::BlobNotFound)?;
                check_customer_key(&base, input.customer_key.as_ref())?;

                // The id is a moment that no snapshot of this blob had, and not before the blob's last change.
                let mut id = now.0.max(base.fields.etag);
                while reader.get(key::snapshot(generation, &input.at.blob, id)).await?.is_some() {
                    id += 1;
                }
                let mut copy = base.clone();
                copy.lease = None;
                copy.fields.snapshots = 0;
                if !input.metadata.is_empty() {
                    copy.fields.metadata = input.metadata.clone().into_pairs();
                    copy.touch(now);
                }
                base.fields.snapshots += 1;
                let stamped = Stamped { etag: copy.etag(), last_modified: copy.last_modified() };
                let mut plan = Plan::new(Snapshotted { snapshot: Timestamp(id), stamped });
                content::share(&reader, &mut plan, &copy.fields.content).await?;
                plan.put(key::snapshot(generation, &input.at.blob, id), copy.stored().encode());
                store::put_blob(&mut plan, generation, &input.at.blob, base, permit);
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
