//! Delete Blob: the base, its snapshots, or one snapshot.

use lazuli_engine::{Plan, Reader, Scan};
use lazuli_model::Op;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::{BlobAddress, Place};
use crate::fault::Answer;
use crate::key::Generation;
use crate::record::content::Content;
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

/// Snapshots that one commit deletes; a blob with more is deleted in several, base last.
const SNAPSHOTS_IN_COMMIT: usize = 500;

impl DeleteBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        loop {
            let more = services
                .engine()
                .run(services.deadline(), |reader| async move {
                    match input.snapshot {
                        Some(snapshot) => input.delete_snapshot(&reader, context, snapshot).await,
                        None => input.delete_base(&reader, context).await,
                    }
                })
                .await?;
            if !more {
                return Ok(());
            }
        }
    }

    async fn delete_snapshot(
        &self,
        reader: &Reader,
        context: &Context,
        snapshot: Timestamp,
    ) -> Answer<Plan<bool>> {
        let now = store::now(reader);
        let container = store::container(reader, &context.account, &self.at.container).await?;
        let generation = container.fields.generation;
        let found = store::find_snapshot(reader, generation, &self.at.blob, snapshot).await?;
        let row = Op::DeleteBlob.row();
        let admitted = admit(row, &self.preconditions, Kind::Blob, found, now, context.version)?;
        let (record, permit) = admitted.into_parts();
        let record = record.ok_or(ErrorCode::BlobNotFound)?;
        let mut plan = Plan::new(false);
        plan.delete(key::snapshot(generation, &self.at.blob, snapshot.0));
        content::drop_holder(reader, &mut plan, &record.fields.content).await?;
        if let Some(mut base) = store::find_blob(reader, generation, &self.at.blob).await? {
            base.fields.snapshots = base.fields.snapshots.saturating_sub(1);
            store::put_blob(&mut plan, generation, &self.at.blob, base, permit);
        }
        Ok(plan)
    }

    async fn delete_base(&self, reader: &Reader, context: &Context) -> Answer<Plan<bool>> {
        let now = store::now(reader);
        let place = Place::find(reader, &context.account, &self.at).await?;
        let generation = place.generation();
        let staged = match &place.existing {
            Some(Existing::Blob(_)) => store::find_staged(reader, generation, &self.at.blob).await?,
            Some(Existing::Staged(staged)) => Some(staged.record.clone()),
            None => None,
        };
        let row = Op::DeleteBlob.row();
        let admitted = admit(row, &self.preconditions, Kind::Blob, place.existing, now, context.version)?;
        let (existing, permit) = admitted.into_parts();
        let mut plan = Plan::new(false);
        let Some(Existing::Blob(mut base)) = existing else {
            // Uncommitted blocks only: they are what is deleted.
            let staged = staged.ok_or(ErrorCode::BlobNotFound)?;
            store::discard_staged(&mut plan, generation, &self.at.blob, &staged);
            return Ok(plan);
        };
        if base.fields.snapshots > 0 && self.snapshots.is_none() {
            return Err(ErrorCode::SnapshotsPresent.into());
        }
        let mut dropped = Vec::new();
        if self.snapshots.is_some() {
            dropped = delete_snapshots(reader, &mut plan, generation, &self.at.blob).await?;
            let deleted = u32::try_from(dropped.len()).unwrap_or(u32::MAX);
            base.fields.snapshots = base.fields.snapshots.saturating_sub(deleted);
            plan.output = base.fields.snapshots > 0 && deleted > 0;
        }
        if self.snapshots == Some(DeleteSnapshots::Only) || plan.output {
            content::drop_holders(reader, &mut plan, &dropped).await?;
            store::put_blob(&mut plan, generation, &self.at.blob, *base, permit);
            return Ok(plan);
        }
        if let Some(staged) = &staged {
            store::discard_staged(&mut plan, generation, &self.at.blob, staged);
        }
        dropped.push(base.fields.content);
        content::drop_holders(reader, &mut plan, &dropped).await?;
        store::delete_blob(&mut plan, generation, &self.at.blob, permit);
        Ok(plan)
    }
}

/// Deletes up to a commit's worth of snapshots and gives their contents. The base record, which every snapshot
/// changes, is a check of the commit: none can be added meanwhile.
async fn delete_snapshots(
    reader: &Reader,
    plan: &mut Plan<bool>,
    generation: Generation,
    name: &str,
) -> Answer<Vec<Content>> {
    let range = key::snapshots_of(generation, name);
    let page = reader.scan(Scan { limit: SNAPSHOTS_IN_COMMIT, ..Scan::of(range) }).await?;
    let mut contents = Vec::new();
    for (key, entry) in page.items {
        plan.delete(key);
        if let Some(record) = store::decode_blob(Some(entry))? {
            contents.push(record.fields.content);
        }
    }
    Ok(contents)
}
