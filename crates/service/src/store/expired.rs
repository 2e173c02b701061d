//! Blobs and uncommitted blocks whose time is over. They are gone for every request from that moment on; the sweeper, or what
//! takes their place, gives back what they held.

use lazuli_engine::Scan;
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;

use super::blob::{BlobPlace, Bytes, decode_blob};
use super::content;
use super::indexed::Indexed;
use super::unit::{Changes as _, Unit};
use crate::fault::Answer;
use crate::store::key::{self, Generation};
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::block::StagedRecord;
use crate::store::record::dead_snapshots::DeadSnapshots;

impl<M: Mode> Unit<M> {
    pub(super) async fn find_blob(&self, place: &BlobPlace) -> Answer<Option<BlobRecord>> {
        let found = self.find_standing(place).await?;
        Ok(found.filter(|blob| place.snapshot.is_some() || !blob.is_expired(self.now())))
    }

    /// The same; the place then knows what stands there.
    pub(super) async fn find_at(&self, place: &mut BlobPlace) -> Answer<Option<BlobRecord>> {
        let Some(found) = self.find_standing(place).await? else { return Ok(None) };
        place.indexed = Indexed::of(&found);
        if place.snapshot.is_none() && found.is_expired(self.now()) {
            place.expired = Some(Box::new(found));
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// Snapshots are gone with their base. Not a check of the commit: whatever ends the base also ends the snapshot.
    pub(super) async fn is_base_expired(&self, place: &BlobPlace) -> Answer<bool> {
        let base = self.reader().get_untracked(key::blob(place.generation, &place.name)).await?;
        Ok(decode_blob(base)?.is_some_and(|base| base.is_expired(self.now())))
    }

    pub(super) async fn find_staged(&self, place: &BlobPlace) -> Answer<Option<StagedRecord>> {
        let found = self.find_standing_stage(place).await?;
        Ok(found.filter(|staged| !staged.is_expired(self.now())))
    }

    /// Also where its time is over.
    async fn find_standing_stage(&self, place: &BlobPlace) -> Answer<Option<StagedRecord>> {
        Ok(match self.reader().get(place.staged_key()).await? {
            Some(entry) => Some(StagedRecord::decode(&entry.value)?),
            None => None,
        })
    }
}

impl Unit {
    /// Uncommitted blocks whose time is over make room for new ones.
    pub(super) async fn give_up_expired_stage(&mut self, place: &BlobPlace) -> Answer<()> {
        let found = self.find_standing_stage(place).await?;
        if let Some(staged) = found.filter(|staged| staged.is_expired(self.now())) {
            self.give_up_stage(place, &staged);
        }
        Ok(())
    }

    /// Gives back what an expired blob holds, and expired blocks beside it, before the name gets a new content. True when the
    /// new content is the very one that the expired blob holds: it goes on holding it.
    pub(super) async fn replace_expired(&mut self, place: &mut BlobPlace, new: &Bytes<'_>) -> Answer<bool> {
        self.give_up_expired_stage(place).await?;
        let Some(expired) = place.expired.take() else { return Ok(false) };
        self.end_snapshots(place, &expired).await?;
        if let Bytes::Shared(content) = new
            && content.id == expired.content.id
        {
            return Ok(true);
        }
        let reader = self.reader().clone();
        content::drop_holder(&reader, self, &expired.content).await?;
        Ok(false)
    }

    /// The sweeper deletes them and gives their contents back.
    async fn end_snapshots(&mut self, place: &BlobPlace, base: &BlobRecord) -> Answer<()> {
        if base.snapshots == 0 {
            return Ok(());
        }
        let range = key::snapshots_of(place.generation, &place.name);
        let scan = Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(range) };
        let last = self.reader().scan(scan).await?;
        if let Some(up_to) = last.items.first().and_then(|(key, _)| key::snapshot_ticks(key)) {
            let dead = key::dead_snapshots(place.generation, &place.name);
            self.put(dead, DeadSnapshots { up_to }.encode());
        }
        Ok(())
    }

    /// Deletes a blob whose time was to come at this moment, if it still stands there and has come to its end.
    pub(super) async fn bury(&mut self, due: Timestamp, generation: Generation, name: &str) -> Answer<()> {
        let mut place = BlobPlace::new(generation, name.to_owned(), None);
        let found = self.find_at(&mut place).await?;
        match place.expired.take() {
            Some(expired) => {
                self.end_snapshots(&place, &expired).await?;
                let reader = self.reader().clone();
                content::drop_holder(&reader, self, &expired.content).await?;
                place.erase(self);
            }
            // It is due at another time, or gone with its container.
            None if found.is_none_or(|blob| blob.ends() != Some(due)) => {
                self.delete(key::due(due, generation, name));
            }
            None => {}
        }
        Ok(())
    }

    /// Gives up blocks that are still there after their time.
    pub(super) async fn bury_stage(&mut self, generation: Generation, name: &str) -> Answer<()> {
        let place = BlobPlace::new(generation, name.to_owned(), None);
        self.give_up_expired_stage(&place).await
    }
}
