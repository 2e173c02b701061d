//! Snapshots of a blob, and the deletion of a blob with or without them.

use lazuli_engine::{Scan, ScanPage};
use lazuli_model::blob::SoftDeletion;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;

use super::blob::{BlobPlace, decode_blob};
use super::content;
use super::deleted_snapshots::{DeletedSnapshots, Fate};
use super::found::{Admitted, Present};
use super::indexed::forget_hold;
use super::retention::note_due;
use super::unit::{Changes as _, Unit};
use crate::blob::{BlobState, DeleteSnapshots, Deleted, Snapshotted, Stamped};
use crate::fault::Answer;
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::content::Content;
use crate::store::record::existing::Existing;

/// Snapshots up to this size are deleted by the commit itself; the sweeper deletes the keys of more.
const SNAPSHOTS_IN_COMMIT_BYTES: usize = 150_000;

impl<M: Mode> Unit<M> {
    /// What is said of all snapshots of a name together.
    pub(super) async fn deleted_snapshots(&self, place: &BlobPlace) -> Answer<DeletedSnapshots> {
        DeletedSnapshots::read(self.reader(), place.generation, &place.name).await
    }
}

impl Present<BlobRecord> {
    /// A second record over the same content. With metadata of its own it has an ETag of its own.
    pub async fn snapshot(mut self, metadata: &Metadata) -> Answer<Snapshotted> {
        let now = self.unit.now();
        let mut copy = self.record.past();
        copy.set_version(None);
        // The base is brought back from the archive, a snapshot is not.
        if let Some(extras) = &mut copy.extras {
            extras.rehydration = None;
            // What protects the base is said of the base.
            (extras.immutability, extras.legal_hold) = (None, false);
        }
        if !metadata.is_empty() {
            copy.metadata = metadata.clone();
            copy.touch(now);
        }
        let left = self.leave_version(1).await?;
        // The id is a moment after every snapshot and version of this name, and not before the blob's last change.
        let from = now.0.max(self.etag.0).max(left.map_or(0, |left| left.0 + 1));
        let id = self.unit.fresh_moment(&self.place, from).await?;
        if left.is_some() {
            self.renew_version(id + 1).await?;
        }
        let stamped = Stamped { version: self.version(), ..copy.stamped() };
        self.place.beside(BlobState::Snapshot(Timestamp(id))).write(&mut self.unit, &copy);
        self.snapshots += 1;
        self.put();
        Ok(Snapshotted { snapshot: Timestamp(id), stamped })
    }

    /// Deletes a snapshot. Its base counts one less.
    pub async fn delete_snapshot(self) -> Answer<Deleted> {
        let Self { mut unit, place, mut record, .. } = self;
        let deletion = unit.soft_deletion().await?;
        match deletion {
            Some(deletion) => {
                record.set_deletion(Some(deletion));
                place.write(&mut unit, &record);
                note_due(&mut unit, deletion, &place.key());
            }
            None => {
                place.erase(&mut unit);
                let reader = unit.reader().clone();
                content::drop_holder(&reader, &mut unit, &record.content).await?;
            }
        }
        let mut base = BlobPlace::base(place.generation, place.name);
        if let Some(mut record) = unit.find_at(&mut base).await? {
            record.snapshots = record.snapshots.saturating_sub(1);
            base.write(&mut unit, &record);
        }
        Ok(Deleted { is_permanent: deletion.is_none() })
    }
}

impl Admitted<Existing> {
    /// Deletes the blob, its snapshots, or both. Uncommitted blocks beside it go too; where there is nothing else, they
    /// are what is deleted.
    pub async fn delete(self, snapshots: Option<DeleteSnapshots>) -> Answer<Deleted> {
        let Present { mut unit, place, policy, record } = self.present()?;
        let mut base = match record {
            Existing::Blob(base) => *base,
            Existing::Staged(staged) => {
                unit.give_up_stage(&place, &staged);
                return Ok(Deleted { is_permanent: true });
            }
        };
        if base.snapshots > 0 && snapshots.is_none() {
            return Err(ErrorCode::SnapshotsPresent.into());
        }
        unit.near_retired(&base).await?;
        let deletion = unit.soft_deletion().await?;
        let mut dropped = Vec::new();
        if snapshots.is_some() && base.snapshots > 0 {
            unit.refuse_held_snapshots(&place, unit.now()).await?;
            dropped = match deletion {
                Some(deletion) => {
                    soft_delete_snapshots(&mut unit, &place, base.snapshots, deletion).await?;
                    Vec::new()
                }
                None => delete_snapshots(&mut unit, &place).await?,
            };
            base.snapshots = 0;
        }
        let reader = unit.reader().clone();
        if snapshots == Some(DeleteSnapshots::Only) {
            content::drop_holders(&reader, &mut unit, &dropped).await?;
            Present { unit, place, policy, record: base }.put();
            return Ok(Deleted { is_permanent: deletion.is_none() });
        }
        if let Some(staged) = unit.find_staged(&place).await? {
            unit.give_up_stage(&place, &staged);
        }
        unit.raise_deleted(&place, &base);
        let is_kept =
            unit.leave_version(&place, &base).await?.is_some() || unit.leave_deleted(&place, &base, deletion);
        if !is_kept {
            dropped.push(base.content);
        }
        content::drop_holders(&reader, &mut unit, &dropped).await?;
        place.erase(&mut unit);
        Ok(Deleted { is_permanent: !is_kept })
    }
}

/// Deletes all snapshots: a few here and now, giving their contents; many by saying that they are dead. The base
/// record, which every snapshot changes, is a check of the commit: none can be added meanwhile.
async fn delete_snapshots(unit: &mut Unit, place: &BlobPlace) -> Answer<Vec<Content>> {
    let reader = unit.reader().clone();
    let read = unit.deleted_snapshots(place).await?;
    let mut deleted = read.clone();
    let page = some_snapshots(unit, place).await?;
    if page.more {
        deleted.kill(unit.last_snapshot(place).await?);
        deleted.write(unit, place.generation, &place.name, &read);
        return Ok(Vec::new());
    }
    let mut contents = Vec::new();
    for (key, _) in page.items {
        // Read as a check: the sweeper may be deleting some of them, and each content loses its holder once.
        let Some(record) = decode_blob(reader.get(key.clone()).await?)? else { continue };
        let ticks = key::snapshot_ticks(&key).unwrap_or(0);
        if matches!(deleted.fate(ticks, record.extras().deletion), Fate::Kept(_)) {
            continue;
        }
        forget_hold(unit, &key, &record);
        contents.push(record.content);
        unit.delete(key);
    }
    // All are gone, also those that the sweeper had still to delete, except what is kept for a while.
    deleted.forget_dead();
    deleted.write(unit, place.generation, &place.name, &read);
    Ok(contents)
}

/// Soft deletes all snapshots that are alive, `count` of them: a few one by one, many by saying so in one place.
async fn soft_delete_snapshots(
    unit: &mut Unit,
    place: &BlobPlace,
    count: u32,
    deletion: SoftDeletion,
) -> Answer<()> {
    let read = unit.deleted_snapshots(place).await?;
    let page = some_snapshots(unit, place).await?;
    if page.more {
        let mut deleted = read.clone();
        deleted.keep(unit.last_snapshot(place).await?, deletion, count, unit.now())?;
        deleted.write(unit, place.generation, &place.name, &read);
        note_due(unit, deletion, &key::kept_snapshots(place.generation, &place.name));
        return Ok(());
    }
    let reader = unit.reader().clone();
    for (key, _) in page.items {
        let Some(mut record) = decode_blob(reader.get(key.clone()).await?)? else { continue };
        let ticks = key::snapshot_ticks(&key).unwrap_or(0);
        if read.fate(ticks, record.extras().deletion) == Fate::Alive {
            record.set_deletion(Some(deletion));
            unit.put(key.clone(), record.encode());
            note_due(unit, deletion, &key);
        }
    }
    Ok(())
}

async fn some_snapshots(unit: &Unit, place: &BlobPlace) -> Answer<ScanPage> {
    let range = key::snapshots_of(place.generation, &place.name);
    let scan = Scan { max_bytes: SNAPSHOTS_IN_COMMIT_BYTES, ..Scan::of(range) };
    Ok(unit.reader().scan(scan).await?)
}
