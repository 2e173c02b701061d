//! Snapshots of a blob, and the deletion of a blob with or without them.

use lazuli_engine::Scan;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;

use super::blob::{BlobPlace, decode_blob};
use super::content;
use super::found::{Admitted, Present};
use super::unit::{Changes as _, Unit};
use crate::blob::{DeleteSnapshots, Snapshotted, Stamped};
use crate::fault::Answer;
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::content::{Content, Shape};
use crate::store::record::dead_snapshots::DeadSnapshots;
use crate::store::record::existing::Existing;

/// Snapshots up to this size are deleted by the commit itself; the sweeper deletes the keys of more.
const SNAPSHOTS_IN_COMMIT_BYTES: usize = 150_000;

impl<M: Mode> Unit<M> {
    /// The snapshots of a name that are deleted and not swept yet.
    pub(super) async fn dead_snapshots(&self, place: &BlobPlace) -> Answer<Option<DeadSnapshots>> {
        Ok(match self.reader().get(key::dead_snapshots(place.generation, &place.name)).await? {
            Some(entry) => Some(DeadSnapshots::decode(&entry.value)?),
            None => None,
        })
    }

    /// The moment of the youngest snapshot that the name has or had; 0 for none. Every snapshot changes the base
    /// record, which is a check of the commit.
    async fn last_snapshot(&self, place: &BlobPlace) -> Answer<u64> {
        let range = key::snapshots_of(place.generation, &place.name);
        let scan = Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(range) };
        let page = self.reader().scan(scan).await?;
        let alive = page.items.first().and_then(|(key, _)| key::snapshot_ticks(key)).unwrap_or(0);
        let dead = self.dead_snapshots(place).await?.map_or(0, |dead| dead.up_to);
        Ok(alive.max(dead))
    }
}

impl Present<BlobRecord> {
    /// A second record over the same content. With metadata of its own it has an ETag of its own.
    pub async fn snapshot(mut self, metadata: &Metadata) -> Answer<Snapshotted> {
        let now = self.unit.now();
        // The id is a moment after every snapshot of this name, and not before the blob's last change.
        let last = self.unit.last_snapshot(&self.place).await?;
        let id = now.0.max(self.etag.0).max(last + 1);
        let mut copy = self.record.clone();
        copy.lease = None;
        copy.snapshots = 0;
        // The base is brought back from the archive, a snapshot is not.
        if let Some(extras) = &mut copy.extras {
            extras.rehydration = None;
            // What protects the base, and when it ends, is said of the base.
            (extras.immutability, extras.legal_hold, extras.expires) = (None, false, None);
        }
        if !metadata.is_empty() {
            copy.metadata = metadata.clone();
            copy.touch(now);
        }
        let stamped = Stamped { etag: copy.etag, last_modified: copy.last_modified };
        let reader = self.unit.reader().clone();
        content::share(&reader, &mut self.unit, &copy.content).await?;
        if copy.content.shape == Shape::Sparse {
            self.unit.layer_over_shared(&mut self.record).await?;
        }
        self.unit.put(key::snapshot(self.place.generation, &self.place.name, id), copy.encode());
        self.snapshots += 1;
        self.put();
        Ok(Snapshotted { snapshot: Timestamp(id), stamped })
    }

    /// Deletes a snapshot. Its base counts one less.
    pub async fn delete_snapshot(self) -> Answer<()> {
        let Self { mut unit, place, record, .. } = self;
        place.erase(&mut unit);
        let reader = unit.reader().clone();
        content::drop_holder(&reader, &mut unit, &record.content).await?;
        let mut base = BlobPlace::new(place.generation, place.name, None);
        if let Some(mut record) = unit.find_at(&mut base).await? {
            record.snapshots = record.snapshots.saturating_sub(1);
            base.write(&mut unit, &record);
        }
        Ok(())
    }
}

impl Admitted<Existing> {
    /// Deletes the blob, its snapshots, or both. Uncommitted blocks beside it go too; where there is nothing else, they
    /// are what is deleted.
    pub async fn delete(self, snapshots: Option<DeleteSnapshots>) -> Answer<()> {
        let Present { mut unit, place, policy, record } = self.present()?;
        let mut base = match record {
            Existing::Blob(base) => *base,
            Existing::Staged(staged) => {
                unit.give_up_stage(&place, &staged);
                return Ok(());
            }
        };
        if base.snapshots > 0 && snapshots.is_none() {
            return Err(ErrorCode::SnapshotsPresent.into());
        }
        let mut dropped = Vec::new();
        if snapshots.is_some() && base.snapshots > 0 {
            unit.refuse_held_snapshots(&place).await?;
            dropped = delete_snapshots(&mut unit, &place).await?;
            base.snapshots = 0;
        }
        let reader = unit.reader().clone();
        if snapshots == Some(DeleteSnapshots::Only) {
            content::drop_holders(&reader, &mut unit, &dropped).await?;
            Present { unit, place, policy, record: base }.put();
            return Ok(());
        }
        if let Some(staged) = unit.find_staged(&place).await? {
            unit.give_up_stage(&place, &staged);
        }
        dropped.push(base.content);
        content::drop_holders(&reader, &mut unit, &dropped).await?;
        place.erase(&mut unit);
        Ok(())
    }
}

/// Deletes all snapshots: a few here and now, giving their contents; many by saying that they are dead. The base
/// record, which every snapshot changes, is a check of the commit: none can be added meanwhile.
async fn delete_snapshots(unit: &mut Unit, place: &BlobPlace) -> Answer<Vec<Content>> {
    let reader = unit.reader().clone();
    let dead = key::dead_snapshots(place.generation, &place.name);
    let range = key::snapshots_of(place.generation, &place.name);
    let scan = Scan { max_bytes: SNAPSHOTS_IN_COMMIT_BYTES, ..Scan::of(range.clone()) };
    let page = reader.scan(scan).await?;
    if page.more {
        let last = reader.scan(Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(range) }).await?;
        let last = last.items.first().and_then(|(key, _)| key::snapshot_ticks(key));
        let up_to = last.ok_or(ErrorCode::InternalError)?;
        unit.put(dead, DeadSnapshots { up_to }.encode());
        return Ok(Vec::new());
    }
    let mut contents = Vec::new();
    for (key, _) in page.items {
        // Read as a check: the sweeper may be deleting some of them, and each content loses its holder once.
        if let Some(record) = decode_blob(reader.get(key.clone()).await?)? {
            contents.push(record.content);
        }
        unit.delete(key);
    }
    // All are gone, also those that the sweeper had still to delete.
    if reader.get(dead.clone()).await?.is_some() {
        unit.delete(dead);
    }
    Ok(contents)
}
