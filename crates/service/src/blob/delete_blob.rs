//! Delete Blob: the base, its snapshots, or one snapshot.

use lazuli_engine::{Plan, Reader, Scan};
use lazuli_model::Op;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::{BlobAddress, Place};
use crate::fault::Answer;
use crate::key::Generation;
use crate::record::Record;
use crate::record::content::Content;
use crate::record::dead_snapshots::DeadSnapshots;
use crate::record::existing::Existing;
use crate::{Context, Services, content, key, store};

/// What `x-ms-delete-snapshots` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteSnapshots {
    Include,
    Only,
}

#[derive(Clone, Debug)]
pub struct DeleteBlob {
    pub at: BlobAddress,
    pub snapshot: Option<Timestamp>,
    pub preconditions: Preconditions,
    pub snapshots: Option<DeleteSnapshots>,
}

/// Snapshots up to this size are deleted by the commit itself; the sweeper deletes the keys of more.
const SNAPSHOTS_IN_COMMIT_BYTES: usize = 150_000;

impl DeleteBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .engine()
            .giving_back()
            .run(services.deadline(), |reader| async move {
                match input.snapshot {
                    Some(snapshot) => input.delete_snapshot(&reader, context, snapshot).await,
                    None => input.delete_base(&reader, context).await,
                }
            })
            .await
    }

    async fn delete_snapshot(
        &self,
        reader: &Reader,
        context: &Context,
        snapshot: Timestamp,
    ) -> Answer<Plan<()>> {
        let now = store::now(reader);
        let container = store::container(reader, &context.account, &self.at.container).await?;
        let generation = container.generation;
        let found = store::find_snapshot(reader, generation, &self.at.blob, snapshot).await?;
        let row = Op::DeleteBlob.row();
        let admitted = admit(&row.policy, &self.preconditions, Kind::Blob, found, now, context.version)?;
        let (record, permit) = admitted.into_parts();
        let record = record.ok_or(ErrorCode::BlobNotFound)?;
        let mut plan = Plan::new(());
        plan.delete(key::snapshot(generation, &self.at.blob, snapshot.0));
        content::drop_holder(reader, &mut plan, &record.content).await?;
        if let Some(mut base) = store::find_blob(reader, generation, &self.at.blob).await? {
            base.snapshots = base.snapshots.saturating_sub(1);
            store::put_blob(&mut plan, generation, &self.at.blob, base, permit);
        }
        Ok(plan)
    }

    async fn delete_base(&self, reader: &Reader, context: &Context) -> Answer<Plan<()>> {
        let now = store::now(reader);
        let place = Place::find(reader, &context.account, &self.at).await?;
        let generation = place.generation();
        let staged = match &place.existing {
            Some(Existing::Blob(_)) => store::find_staged(reader, generation, &self.at.blob).await?,
            Some(Existing::Staged(staged)) => Some(staged.clone()),
            None => None,
        };
        let row = Op::DeleteBlob.row();
        let admitted =
            admit(&row.policy, &self.preconditions, Kind::Blob, place.existing, now, context.version)?;
        let (existing, permit) = admitted.into_parts();
        let mut plan = Plan::new(());
        let Some(Existing::Blob(mut base)) = existing else {
            // Uncommitted blocks only: they are what is deleted.
            let staged = staged.ok_or(ErrorCode::BlobNotFound)?;
            store::discard_staged(&mut plan, generation, &self.at.blob, &staged);
            return Ok(plan);
        };
        if base.snapshots > 0 && self.snapshots.is_none() {
            return Err(ErrorCode::SnapshotsPresent.into());
        }
        let mut dropped = Vec::new();
        if self.snapshots.is_some() && base.snapshots > 0 {
            dropped = delete_snapshots(reader, &mut plan, generation, &self.at.blob).await?;
            base.snapshots = 0;
        }
        if self.snapshots == Some(DeleteSnapshots::Only) {
            content::drop_holders(reader, &mut plan, &dropped).await?;
            store::put_blob(&mut plan, generation, &self.at.blob, *base, permit);
            return Ok(plan);
        }
        if let Some(staged) = &staged {
            store::discard_staged(&mut plan, generation, &self.at.blob, staged);
        }
        dropped.push(base.content);
        content::drop_holders(reader, &mut plan, &dropped).await?;
        store::delete_blob(&mut plan, generation, &self.at.blob, permit);
        Ok(plan)
    }
}

/// Deletes all snapshots: a few here and now, giving their contents; many by saying that they are dead. The base
/// record, which every snapshot changes, is a check of the commit: none can be added meanwhile.
async fn delete_snapshots(
    reader: &Reader,
    plan: &mut Plan<()>,
    generation: Generation,
    name: &str,
) -> Answer<Vec<Content>> {
    let range = key::snapshots_of(generation, name);
    let scan = Scan { max_bytes: SNAPSHOTS_IN_COMMIT_BYTES, ..Scan::of(range.clone()) };
    let page = reader.scan(scan).await?;
    if page.more {
        let last = reader.scan(Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(range) }).await?;
        let last = last.items.first().and_then(|(key, _)| key::snapshot_ticks(key));
        let up_to = last.ok_or(ErrorCode::InternalError)?;
        plan.put(key::dead_snapshots(generation, name), DeadSnapshots { up_to }.encode());
        return Ok(Vec::new());
    }
    let mut contents = Vec::new();
    for (key, _) in page.items {
        // Read as a check: the sweeper may be deleting some of them, and each content loses its holder once.
        if let Some(record) = store::decode_blob(reader.get(key.clone()).await?)? {
            contents.push(record.content);
        }
        plan.delete(key);
    }
    // All are gone, also those that the sweeper had still to delete.
    if reader.get(key::dead_snapshots(generation, name)).await?.is_some() {
        plan.delete(key::dead_snapshots(generation, name));
    }
    Ok(contents)
}
