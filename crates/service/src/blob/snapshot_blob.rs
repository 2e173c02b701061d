//! Snapshot Blob: a second record over the same content.

use lazuli_engine::{Plan, Reader, Scan};
use lazuli_model::Op;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::blob::CustomerKey;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;

use super::write::check_customer_key;
use super::{BlobAddress, Place, Stamped};
use crate::fault::{Answer, Fault};
use crate::key::Generation;
use crate::record::Record;
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
                let admitted = admit(
                    &row.policy,
                    &input.preconditions,
                    Kind::Blob,
                    place.existing,
                    now,
                    context.version,
                )?;
                let (existing, permit) = admitted.into_parts();
                let mut base =
                    existing.and_then(|existing| existing.blob()).ok_or(ErrorCode::BlobNotFound)?;
                check_customer_key(&base, input.customer_key.as_ref())?;

                // The id is a moment after every snapshot of this name, and not before the blob's last change.
                let last = last_snapshot(&reader, generation, &input.at.blob).await?;
                let id = now.0.max(base.etag.0).max(last + 1);
                let mut copy = base.clone();
                copy.lease = None;
                copy.snapshots = 0;
                if !input.metadata.is_empty() {
                    copy.metadata = input.metadata.clone();
                    copy.touch(now);
                }
                base.snapshots += 1;
                let stamped = Stamped { etag: copy.etag, last_modified: copy.last_modified };
                let mut plan = Plan::new(Snapshotted { snapshot: Timestamp(id), stamped });
                content::share(&reader, &mut plan, &copy.content).await?;
                plan.put(key::snapshot(generation, &input.at.blob, id), copy.encode());
                store::put_blob(&mut plan, generation, &input.at.blob, base, permit);
                Ok::<_, Fault>(plan)
            })
            .await
    }
}

/// The moment of the youngest snapshot that the name has or had; 0 for none. Every snapshot changes the base record,
/// which is a check of the commit.
async fn last_snapshot(reader: &Reader, generation: Generation, name: &str) -> Answer<u64> {
    let range = key::snapshots_of(generation, name);
    let page = reader.scan(Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(range) }).await?;
    let alive = page.items.first().and_then(|(key, _)| key::snapshot_ticks(key)).unwrap_or(0);
    let dead = store::dead_snapshots(reader, generation, name).await?.map_or(0, |dead| dead.up_to);
    Ok(alive.max(dead))
}
