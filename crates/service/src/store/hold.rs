//! Immutability policies and legal holds: put on what was admitted, and asked about before much is deleted at once.

use lazuli_engine::Scan;
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::blob::BlobPlace;
use super::found::Present;
use super::unit::Unit;
use crate::blob::BlobState;
use crate::fault::Answer;
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::container::ContainerRecord;

impl Present<BlobRecord> {
    /// Writes what was changed of its hold. The base of a snapshot is written too, as it is: who deletes a base with its
    /// snapshots has read it, and asks again.
    pub async fn put_hold(mut self) -> Answer<BlobRecord> {
        if let BlobState::Snapshot(_) = self.place.state {
            let mut base = BlobPlace::base(self.place.generation, self.place.name.clone());
            if let Some(record) = self.unit.find_at(&mut base).await? {
                base.write(&mut self.unit, &record);
            }
        }
        Ok(self.put())
    }
}

impl Unit {
    /// Refuses while one of the snapshots of a name is held.
    pub(super) async fn refuse_held_snapshots(&self, place: &BlobPlace) -> Answer<()> {
        if self.longest_hold(place.generation).await?.is_none() {
            return Ok(());
        }
        let mut after = None;
        loop {
            let range = key::snapshots_of(place.generation, &place.name);
            let page = self.reader().scan(Scan { after, ..Scan::of(range) }).await?;
            for (_, entry) in &page.items {
                BlobRecord::decode(&entry.value)?.hold().permits_deletion(self.now())?;
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(());
            }
            tokio::task::yield_now().await;
        }
    }
}

impl Present<ContainerRecord> {
    /// Refuses while anything in the container is held. What is put under a hold until the commit makes it fail: every
    /// write of a blob reads the record of its container.
    pub(super) async fn refuse_held(&self) -> Answer<()> {
        let range = key::held_after(self.generation, self.unit.now());
        self.unit.reader().check_range(range, self.key());
        match self.unit.longest_hold(self.generation).await? {
            Some(Timestamp::MAX) => Err(ErrorCode::ContainerHasLegalHold.into()),
            Some(_) => Err(ErrorCode::BlobImmutableDueToPolicy.into()),
            None => Ok(()),
        }
    }
}
