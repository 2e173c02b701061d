//! What stands at a place, and whether it is there for a request.

use lazuli_model::operation::Mode;

use super::blob::{BlobPlace, decode_blob};
use super::deleted_snapshots::Fate;
use super::indexed::Indexed;
use super::key;
use super::record::blob::BlobRecord;
use super::unit::Unit;
use crate::blob::BlobState;
use crate::fault::Answer;

impl<M: Mode> Unit<M> {
    pub(super) async fn find_blob(&self, place: &BlobPlace) -> Answer<Option<BlobRecord>> {
        let found = self.find_standing(place).await?;
        Ok(found.filter(|blob| place.state != BlobState::Base || !blob.is_expired(self.now())))
    }

    /// The same; the place then knows what stands there.
    pub(super) async fn find_at(&self, place: &mut BlobPlace) -> Answer<Option<BlobRecord>> {
        let Some(found) = self.find_standing(place).await? else { return Ok(None) };
        place.indexed = Indexed::of(&found);
        if place.state == BlobState::Base && found.is_expired(self.now()) {
            place.expired = Some(Box::new(found));
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// The same; the place of the current version becomes that of the base.
    pub(super) async fn resolve(&self, place: &mut BlobPlace) -> Answer<Option<BlobRecord>> {
        let found = self.find_at(place).await?;
        let (BlobState::Version(version), None) = (place.state, &found) else { return Ok(found) };
        let (encryption, container) = (place.encryption.clone(), place.container.clone());
        let mut base =
            BlobPlace { encryption, container, ..BlobPlace::base(place.generation, place.name.clone()) };
        let current = self.find_at(&mut base).await?.filter(|base| base.version() == Some(version));
        if current.is_some() {
            *place = base;
        }
        Ok(current)
    }

    /// Also a base whose time is over.
    async fn find_standing(&self, place: &BlobPlace) -> Answer<Option<BlobRecord>> {
        let Some(blob) = decode_blob(self.reader().get(place.key()).await?)? else { return Ok(None) };
        let is_alive = match place.state {
            BlobState::Snapshot(at) => {
                let deleted = self.deleted_snapshots(place).await?;
                deleted.fate(at.0, blob.extras().deletion) == Fate::Alive
                    && !self.is_base_expired(place).await?
            }
            BlobState::Base | BlobState::Version(_) => blob.extras().deletion.is_none(),
        };
        Ok(is_alive.then(|| blob.at(self.now())))
    }

    /// Snapshots are gone with their base. Not a check of the commit: whatever ends the base also ends the snapshot.
    async fn is_base_expired(&self, place: &BlobPlace) -> Answer<bool> {
        let base = self.reader().get_untracked(key::blob(place.generation, &place.name)).await?;
        Ok(decode_blob(base)?.is_some_and(|base| base.is_expired(self.now())))
    }
}
