//! Versions: what a write replaces stays readable under its id.
//!
//! A version that is not the current one is a record beside the base, as a snapshot is, and holds its content. The id of
//! the current one stands in the base. Whether a write keeps what it replaces is decided by the account's features and by
//! what it replaces: an account whose versioning was switched off keeps a version that is replaced, and makes none.

use lazuli_engine::{KeyRange, Scan};
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;

use super::blob::BlobPlace;
use super::content;
use super::found::Present;
use super::key;
use super::record::blob::BlobRecord;
use super::record::content::Shape;
use super::retention::note_due;
use super::unit::Unit;
use crate::blob::{BlobState, Deleted};
use crate::fault::Answer;

/// What a write leaves of the record that it replaces. Where something is left, that has the hold on the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    Version(Timestamp),
    DeletedSnapshot(Timestamp),
}

impl<M: Mode> Unit<M> {
    /// A moment behind every snapshot and version that the name has, and not before `from`. What makes a snapshot or a
    /// version changes the base, which is a check of the commit.
    pub(super) async fn fresh_moment(&self, place: &BlobPlace, from: u64) -> Answer<u64> {
        let snapshot = self.last_snapshot(place).await?;
        let version = self.last_of(key::versions_of(place.generation, &place.name)).await?;
        let deleted = self.deleted_snapshots(place).await?.last();
        Ok(from.max(snapshot.max(version).max(deleted) + 1))
    }

    /// The moment of the youngest snapshot that stands, alive or not; 0 for none.
    pub(super) async fn last_snapshot(&self, place: &BlobPlace) -> Answer<u64> {
        self.last_of(key::snapshots_of(place.generation, &place.name)).await
    }

    async fn last_of(&self, range: KeyRange) -> Answer<u64> {
        let scan = Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(range) };
        let page = self.reader().scan(scan).await?;
        Ok(page.items.first().and_then(|(key, _)| key::snapshot_ticks(key)).unwrap_or(0))
    }

    /// For a write where no base is. What was made and deleted again since this write read is dated earlier than its commit, but within
    /// one tick of the clock, as under a test's, it may have left a version at the moment that this write has found free. So the
    /// commit also finds that no younger version is there.
    pub(super) async fn no_younger_version(&self, place: &BlobPlace) -> Answer<()> {
        if !self.features().versioning {
            return Ok(());
        }
        let all = key::versions_of(place.generation, &place.name);
        let scan = Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(all.clone()) };
        let start = match self.reader().scan(scan).await?.items.first() {
            Some((last, _)) => [&last[..], &[0]].concat().into(),
            None => all.start,
        };
        // Every operation that adds a version writes the base too. What deletes or changes one need not, and lets this commit through.
        let base = key::blob(place.generation, &place.name);
        Ok(self.reader().check_range(KeyRange { start, end: all.end }, base).await?)
    }

    /// The id of the version that a write makes; None where it makes none.
    pub(super) async fn next_version(&self, place: &BlobPlace, from: u64) -> Answer<Option<Timestamp>> {
        match self.features().versioning {
            true => Ok(Some(Timestamp(self.fresh_moment(place, from).await?))),
            false => Ok(None),
        }
    }
}

impl Unit {
    /// Keeps a base that is about to be replaced or deleted, if it is a version or is to be one.
    pub(super) async fn leave_version(
        &mut self,
        place: &BlobPlace,
        old: &BlobRecord,
    ) -> Answer<Option<Timestamp>> {
        let version = match old.version() {
            Some(version) => version,
            None if self.features().versioning => Timestamp(self.fresh_moment(place, old.etag.0).await?),
            None => return Ok(None),
        };
        let mut kept = old.past();
        kept.set_version(Some(version));
        kept.leave_incremental_copy();
        place.beside(BlobState::Version(version)).write(self, &kept);
        Ok(Some(version))
    }

    /// Keeps a base that is about to get a new content: as a version, or for a while as a deleted snapshot.
    pub(super) async fn leave_replaced(&mut self, place: &BlobPlace, old: &BlobRecord) -> Answer<Left> {
        if let Some(version) = self.leave_version(place, old).await? {
            return Ok(Left::Version(version));
        }
        let Some(deletion) = self.soft_deletion().await? else { return Ok(Left::Nothing) };
        let mut kept = old.past();
        kept.set_deletion(Some(deletion));
        kept.leave_incremental_copy();
        let moment = self.fresh_moment(place, self.now().0.max(old.etag.0)).await?;
        let snapshot = place.beside(BlobState::Snapshot(Timestamp(moment)));
        snapshot.write(self, &kept);
        note_due(self, deletion, &snapshot.key());
        Ok(Left::DeletedSnapshot(Timestamp(moment)))
    }
}

impl Present<BlobRecord> {
    /// For a change of the base that makes a version, before the record is changed: what it was is kept, and the base
    /// has a new id.
    pub async fn keep_version(&mut self) -> Answer<()> {
        if let Some(left) = self.leave_version(0).await? {
            self.renew_version(left.0 + 1).await?;
        }
        Ok(())
    }

    /// Keeps the base as it is, if that is a version or is to be one. The content is held by the base and by what is
    /// kept from now on, and by `further` records more.
    pub(super) async fn leave_version(&mut self, further: u32) -> Answer<Option<Timestamp>> {
        let left = self.unit.leave_version(&self.place, &self.record).await?;
        let holders = further + u32::from(left.is_some());
        if holders > 0 {
            let reader = self.unit.reader().clone();
            content::share_with(&reader, &mut self.unit, &self.record.content, holders).await?;
            if self.record.content.shape == Shape::Sparse {
                self.unit.layer_over_shared(&mut self.record).await?;
            }
        }
        Ok(left)
    }

    /// The base becomes a version that is not before `from`, or none where versioning is off.
    pub(super) async fn renew_version(&mut self, from: u64) -> Answer<()> {
        let from = from.max(self.unit.now().0).max(self.etag.0 + 1);
        let version = self.unit.next_version(&self.place, from).await?;
        self.record.set_version(version);
        Ok(())
    }

    /// Deletes a version that is not the current one.
    pub async fn delete_version(self) -> Answer<Deleted> {
        let Self { mut unit, place, mut record, .. } = self;
        let BlobState::Version(_) = place.state else {
            return Err(ErrorCode::OperationNotAllowedOnRootBlob.into());
        };
        if let Some(deletion) = unit.soft_deletion().await? {
            record.set_deletion(Some(deletion));
            place.write(&mut unit, &record);
            note_due(&mut unit, deletion, &place.key());
            return Ok(Deleted { is_permanent: false });
        }
        place.erase(&mut unit);
        let reader = unit.reader().clone();
        content::drop_holder(&reader, &mut unit, &record.content).await?;
        Ok(Deleted { is_permanent: true })
    }
}

/// The one place where a base loses its content: it is dropped, left to what is kept of the base, or handed on to the list
/// that takes its blocks over.
pub(super) async fn retire(
    unit: &mut Unit,
    old: Option<&BlobRecord>,
    left: Left,
    by: Option<key::ContentId>,
) -> Answer<()> {
    let Some(old) = old else { return Ok(()) };
    let reader = unit.reader().clone();
    match (by, left) {
        (Some(list), Left::Nothing) => content::become_parent(&reader, unit, &old.content, list).await,
        (Some(list), _) => content::become_shared_parent(&reader, unit, &old.content, list).await,
        (None, Left::Nothing) => content::drop_holder(&reader, unit, &old.content).await,
        (None, _) => Ok(()),
    }
}
