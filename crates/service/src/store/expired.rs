//! Blobs and uncommitted blocks whose time is over. They are gone for every request from that moment on; the sweeper, or what
//! takes their place, gives back what they held.

use std::collections::HashSet;

use lazuli_engine::Key;
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;

use super::blob::{BlobPlace, Bytes};
use super::content;
use super::unit::{Changes as _, Unit};
use crate::fault::Answer;
use crate::store::key::{self, Generation};
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::block::StagedRecord;
use crate::store::record::content::Content;

impl<M: Mode> Unit<M> {
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
    /// new content is the very one that the expired blob holds, or takes its hold over.
    pub(super) async fn replace_expired(&mut self, place: &mut BlobPlace, new: &Bytes<'_>) -> Answer<bool> {
        self.give_up_expired_stage(place).await?;
        let Some(expired) = place.expired.take() else { return Ok(false) };
        self.end_snapshots(place, &expired).await?;
        let held = match new {
            Bytes::Shared(content) => Some(content.id),
            Bytes::Made { took_over, .. } => *took_over,
            _ => None,
        };
        if held == Some(expired.content.id) {
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
        let read = self.deleted_snapshots(place).await?;
        let mut deleted = read.clone();
        deleted.kill(self.last_snapshot(place).await?);
        deleted.write(self, place.generation, &place.name, &read);
        Ok(())
    }

    /// Deletes blobs whose time was to come, by their keys in the order of the ends: as many as one commit takes. Tells how many
    /// of them.
    pub(super) async fn bury_some(&mut self, ends: &[Key]) -> Answer<usize> {
        let (mut count, mut contents, mut seen) = (0, Vec::new(), HashSet::new());
        for key in ends {
            if count > 0 && !self.has_room_with(contents.len()) {
                break;
            }
            count += 1;
            let Some((end, generation, name)) = key::expiring_of(key) else { continue };
            // Each once in a commit, which does not see what it writes itself.
            match seen.insert((generation, name)) {
                true => contents.extend(self.bury(end, generation, name).await?),
                false => self.delete(key.clone()),
            }
        }
        let reader = self.reader().clone();
        content::drop_holders(&reader, self, &contents).await?;
        Ok(count)
    }

    /// Deletes a blob whose time was to come at this moment, if it still stands there and has come to its end. Gives the content
    /// that it held.
    async fn bury(&mut self, end: Timestamp, generation: Generation, name: &str) -> Answer<Option<Content>> {
        let mut place = BlobPlace::base(generation, name.to_owned());
        let found = self.find_at(&mut place).await?;
        match place.expired.take() {
            Some(expired) => {
                self.end_snapshots(&place, &expired).await?;
                place.erase(self);
                return Ok(Some(expired.content));
            }
            // It ends at another time, or gone with its container.
            None if found.is_none_or(|blob| blob.ends() != Some(end)) => {
                self.delete(key::expiring(end, generation, name));
            }
            None => {}
        }
        Ok(None)
    }

    /// Gives up blocks that are still there after their time.
    pub(super) async fn bury_stage(&mut self, generation: Generation, name: &str) -> Answer<()> {
        let place = BlobPlace::base(generation, name.to_owned());
        self.give_up_expired_stage(&place).await
    }
}
