//! Blobs that are deleted and kept for a while: out of every listing and read, and brought back by Undelete Blob.
//!
//! A soft-deleted base stands apart from those that are not, so nothing that looks for a blob can find it. A soft-deleted
//! snapshot or version stays where it is and says so, itself or together with all others of its name (`DeletedSnapshots`).

use lazuli_model::blob::SoftDeletion;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;

use super::blob::{BlobPlace, decode_blob};
use super::content;
use super::deleted_snapshots::Fate;
use super::found::Found;
use super::indexed::Indexed;
use super::record::Record as _;
use super::record::blob::BlobRecord;
use super::retention::note_due;
use super::unit::{Changes as _, Unit};
use super::{Present, key};
use crate::blob::{BlobAddress, BlobState};
use crate::fault::Answer;

impl<M: Mode> Unit<M> {
    /// A snapshot or version that is soft deleted and not gone yet.
    pub async fn deleted_blob(&self, at: &BlobAddress, state: BlobState) -> Answer<Found<BlobRecord, M>> {
        let mut place = self.place_of(at, state).await?;
        let deleted = self.deleted_snapshots(&place).await?;
        let found = decode_blob(self.reader().get(place.key()).await?)?;
        let is_kept = |blob: &BlobRecord| match state {
            BlobState::Base => false,
            BlobState::Snapshot(at) => {
                matches!(deleted.fate(at.0, blob.extras().deletion), Fate::Kept(deletion) if deletion.until > self.now())
            }
            BlobState::Version(_) => {
                blob.extras().deletion.is_some_and(|deletion| deletion.until > self.now())
            }
        };
        let record = found.filter(is_kept);
        place.indexed = record.as_ref().map(Indexed::of).unwrap_or_default();
        Ok(Found::new(self.clone(), place, record))
    }
}

impl Unit {
    /// Keeps a base that is about to be deleted; false where nothing is kept.
    pub(super) fn leave_deleted(
        &mut self,
        place: &BlobPlace,
        old: &BlobRecord,
        deletion: Option<SoftDeletion>,
    ) -> bool {
        let Some(deletion) = deletion else { return false };
        let mut kept = old.past();
        kept.set_deletion(Some(deletion));
        let key = key::deleted_blob(place.generation, &place.name);
        self.put(key.clone(), kept.encode());
        note_due(self, deletion, &key);
        true
    }

    /// Before a name that has no base gets one: what was soft deleted under it becomes a soft-deleted snapshot.
    pub(super) async fn bury_deleted(&mut self, place: &BlobPlace) -> Answer<Option<Timestamp>> {
        let key = key::deleted_blob(place.generation, &place.name);
        let Some(mut kept) = decode_blob(self.reader().get(key.clone()).await?)? else { return Ok(None) };
        self.delete(key);
        kept.leave_incremental_copy();
        let moment = self.fresh_moment(place, self.now().0.max(kept.etag.0)).await?;
        let snapshot = place.beside(BlobState::Snapshot(Timestamp(moment)));
        if let Some(deletion) = kept.extras().deletion {
            note_due(self, deletion, &snapshot.key());
        }
        snapshot.write(self, &kept);
        Ok(Some(Timestamp(moment)))
    }
}

impl Present<BlobRecord> {
    /// Deletes a soft-deleted snapshot or version for good.
    pub async fn delete_for_good(self) -> Answer<()> {
        let Self { mut unit, place, record, .. } = self;
        if place.state == BlobState::Base {
            return Err(ErrorCode::OperationNotAllowedOnRootBlob.into());
        }
        // One of those that were deleted together is no longer to be counted when they are brought back.
        if let (BlobState::Snapshot(at), None) = (place.state, record.extras().deletion) {
            let read = unit.deleted_snapshots(&place).await?;
            let mut deleted = read.clone();
            deleted.count_less(at.0);
            deleted.write(&mut unit, place.generation, &place.name, &read);
        }
        place.erase(&mut unit);
        let reader = unit.reader().clone();
        content::drop_holder(&reader, &mut unit, &record.content).await
    }
}
