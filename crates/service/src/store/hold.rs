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
    /// Writes what was changed of its hold. The base of a snapshot is written too: who deletes a base with its snapshots has
    /// read it, and asks again. With the base its snapshots would expire, so it does not before the hold ends.
    pub async fn put_hold(mut self) -> Answer<BlobRecord> {
        if let BlobState::Snapshot(_) = self.place.state {
            let mut base = BlobPlace::base(self.place.generation, self.place.name.clone());
            if let Some(mut record) = self.unit.find_at(&mut base).await? {
                record.expire_after(&self.record.hold());
                base.write(&mut self.unit, &record);
            }
        }
        Ok(self.put())
    }

    /// Says when the blob is to be gone. Its snapshots are gone with it: refuses a moment at which one of them is held.
    pub async fn put_expiry(mut self, moment: Option<Timestamp>) -> Answer<BlobRecord> {
        if let Some(moment) = moment
            && self.snapshots > 0
        {
            self.unit.refuse_held_snapshots(&self.place, moment).await?;
        }
        self.extras_mut().expires = moment;
        Ok(self.put())
    }
}

impl Unit {
    /// Refuses if one of the snapshots of a name is held at a moment, which is not before now.
    pub(super) async fn refuse_held_snapshots(&self, place: &BlobPlace, moment: Timestamp) -> Answer<()> {
        if self.longest_hold(place.generation).await?.is_none() {
            return Ok(());
        }
        let mut after = None;
        loop {
            let range = key::snapshots_of(place.generation, &place.name);
            let page = self.reader().scan(Scan { after, ..Scan::of(range) }).await?;
            for (_, entry) in &page.items {
                BlobRecord::decode(&entry.value)?.hold().permits_deletion(moment)?;
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
        self.unit.reader().check_range(range, self.key()).await?;
        match self.unit.longest_hold(self.generation).await? {
            Some(Timestamp::MAX) => Err(ErrorCode::ContainerHasLegalHold.into()),
            Some(_) => Err(ErrorCode::BlobImmutableDueToPolicy.into()),
            None => Ok(()),
        }
    }
}
