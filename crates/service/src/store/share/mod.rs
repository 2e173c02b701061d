//! Shares: found, created, changed, ended, and their snapshots. What stands in a share is a
//! [tree](crate::store::tree).

pub(in crate::store) mod key;
mod opens;
mod path;
mod ranges;

pub(in crate::store) use opens::end_lost as end_lost_opens;
pub use opens::{Attended, NewOpen};
pub use path::PathPlace;

use lazuli_engine::{Scan, Value};
use lazuli_model::admission::{
    self, Circumstances, Kind, LeaseAction, LeaseChange, LeaseId, LeaseState, Preconditions, admit, lease,
};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Mode, Policy};
use lazuli_model::time::Timestamp;

use super::by_name::ByName;
use super::found::{Admitted, Found, Present, Resource};
use super::key::Generation;
use super::record::Record;
use super::record::path::{DIRECTORY, FileTimes, PathBody, PathRecord};
use super::record::place::GoneSnapshot;
use super::record::share::ShareRecord;
use super::tree::{self, Entry as _, NodeId, Tree};
use super::unit::{Changes as _, Unit, View};
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::file::{DeleteShareSnapshots, NewShare, ShareAddress};
use crate::shared::marker::Position;

/// What a share may have.
const SNAPSHOTS: u32 = 200;

/// The name of a share in the account of the unit, or of one of its snapshots.
pub struct SharePlace {
    name: String,
    snapshot: Option<Timestamp>,
}

impl Resource for ShareRecord {
    type Given = Preconditions;
    type Place = SharePlace;

    const NOT_FOUND: ErrorCode = ErrorCode::ShareNotFound;

    fn judge(
        policy: &Policy,
        given: &Preconditions,
        found: Option<Self>,
        circumstances: Circumstances,
    ) -> Result<admission::Admitted<Self>, Failure> {
        admit(policy, given, Kind::Share, found, circumstances)
    }
}

impl ShareRecord {
    pub(super) fn tree(&self) -> Tree {
        Tree { root: self.root.node, generation: self.generation, moment: self.moment }
    }
}

impl<M: Mode> Unit<M> {
    /// A share, or a snapshot of one, which must be there.
    pub async fn share(&self, at: &ShareAddress) -> Answer<Found<ShareRecord, M>> {
        let place = SharePlace { name: at.share.clone(), snapshot: at.snapshot };
        let record = match at.snapshot {
            None => self.find_share(&at.share).await?,
            Some(moment) => Some(self.share_of(&at.share, Some(moment)).await?),
        };
        Ok(Found::new(self.clone(), place, record))
    }

    async fn find_share(&self, name: &str) -> Answer<Option<ShareRecord>> {
        Ok(match self.reader().get(key::share(self.account(), name)).await? {
            Some(entry) => Some(ShareRecord::decode(&entry.value)?),
            None => None,
        })
    }

    /// The share that an operation works in, or its snapshot. The read is a check of the commit: what is written while the
    /// share is deleted, or while a snapshot of it is taken, is decided again.
    async fn share_of(&self, name: &str, snapshot: Option<Timestamp>) -> Answer<ShareRecord> {
        let share = self.find_share(name).await?.ok_or(ErrorCode::ShareNotFound)?;
        let Some(moment) = snapshot else { return Ok(share) };
        let key = tree::key::snapshot(PathRecord::SPACE, share.generation, moment.0);
        let entry = self.reader().get(key).await?.ok_or(ErrorCode::ShareSnapshotNotFound)?;
        Ok(ShareRecord::decode(&entry.value)?)
    }
}

impl Admitted<ShareRecord> {
    /// Makes the share with its root; refuses where there is one.
    pub fn create(mut self, new: &NewShare) -> Result<Stamped, Failure> {
        if self.record().is_some() {
            return Err(ErrorCode::ShareAlreadyExists.into());
        }
        let now = self.unit.now();
        let root = PathRecord {
            node: NodeId::fresh(now),
            name: String::new(),
            since: 0,
            etag: ETag(now.0),
            last_modified: now,
            times: FileTimes::all(now),
            attributes: DIRECTORY,
            permission: None,
            metadata: Metadata::default(),
            posix: None,
            body: PathBody::Directory,
        };
        let record = ShareRecord {
            generation: Generation::new(now.0, rand::random()),
            created: now,
            etag: ETag(now.0),
            last_modified: now,
            metadata: new.metadata.clone(),
            policies: Vec::new(),
            lease: None,
            settings: new.settings.clone(),
            root,
            moment: 0,
            snapshots: 0,
        };
        self.unit.put(key::share(self.unit.account(), &self.place.name), record.encode());
        Ok(record.stamped())
    }

    /// Carries out a lease action. A snapshot has a lease of its own.
    pub fn lease(self, action: &LeaseAction, fresh: LeaseId) -> Result<(Stamped, LeaseChange), Failure> {
        let change = self.admitted.act(action, fresh)?;
        let mut share = self.present()?;
        share.lease.clone_from(&change.lease);
        Ok((share.put(), change))
    }
}

impl Present<ShareRecord> {
    /// Writes what was changed.
    pub fn put(mut self) -> Stamped {
        if self.changes_etag() {
            let now = self.unit.now();
            self.record.touch(now);
        }
        self.write();
        self.record.stamped()
    }

    fn write(&mut self) {
        let key = match self.place.snapshot {
            Some(moment) => tree::key::snapshot(PathRecord::SPACE, self.record.generation, moment.0),
            None => key::share(self.unit.account(), &self.place.name),
        };
        self.unit.put(key, self.record.encode());
    }

    /// Keeps the share as it is, with everything in it: one row more, however much stands in it. What is changed
    /// afterwards keeps what it was. The share's own ETag stays.
    pub fn snapshot(mut self, metadata: &Metadata) -> Result<(Timestamp, Stamped), Failure> {
        if self.place.snapshot.is_some() {
            return Err(ErrorCode::ShareSnapshotOperationNotSupported.into());
        }
        if self.record.snapshots >= SNAPSHOTS {
            return Err(ErrorCode::ShareSnapshotCountExceeded.into());
        }
        // A moment after every one before, and not before the share's last change.
        let moment = self.unit.now().0.max(self.record.etag.0).max(self.record.moment + 1);
        let mut copy = ShareRecord { lease: None, snapshots: 0, ..self.record.clone() };
        if !metadata.is_empty() {
            copy.metadata = metadata.clone();
        }
        let key = tree::key::snapshot(PathRecord::SPACE, self.record.generation, moment);
        self.unit.put(key, copy.encode());
        self.record.moment = moment;
        self.record.snapshots += 1;
        self.write();
        Ok((Timestamp(moment), self.record.stamped()))
    }

    /// Ends the share, or one of its snapshots; the sweeper deletes what they held.
    pub async fn delete(self, snapshots: Option<DeleteShareSnapshots>) -> Answer<()> {
        let Self { mut unit, place, record, .. } = self;
        if let Some(moment) = place.snapshot {
            let mut share = unit.find_share(&place.name).await?.ok_or(ErrorCode::ShareNotFound)?;
            share.snapshots = share.snapshots.saturating_sub(1);
            unit.put(key::share(unit.account(), &place.name), share.encode());
            unit.delete(tree::key::snapshot(PathRecord::SPACE, record.generation, moment.0));
            unit.put(key::gone_snapshot(record.generation, moment.0), GoneSnapshot::default().encode());
            return Ok(());
        }
        match snapshots {
            None if record.snapshots > 0 => return Err(ErrorCode::ShareHasSnapshots.into()),
            Some(DeleteShareSnapshots::Include) => unit.refuse_leased_snapshots(&record).await?,
            None | Some(DeleteShareSnapshots::IncludeLeased) => {}
        }
        unit.delete(key::share(unit.account(), &place.name));
        unit.put(key::dead_share(record.generation), Value::new());
        unit.put(tree::key::dead(PathRecord::SPACE, record.root.node), Value::new());
        Ok(())
    }
}

impl Unit {
    async fn refuse_leased_snapshots(&self, share: &ShareRecord) -> Answer<()> {
        let range = tree::key::snapshots(PathRecord::SPACE, share.generation);
        let page = self.reader().scan(Scan { keys_only: true, ..Scan::of(range) }).await?;
        for (key, _) in page.items {
            // As a check of the commit: one that is leased meanwhile is not overlooked.
            let Some(entry) = self.reader().get(key).await? else { continue };
            let snapshot = ShareRecord::decode(&entry.value)?;
            let state = lease::state(snapshot.lease.as_ref(), self.now());
            if matches!(state, LeaseState::Leased | LeaseState::Breaking) {
                return Err(ErrorCode::DeleteShareWhenSnapshotLeased.into());
            }
        }
        Ok(())
    }
}

impl View {
    /// A page of the account's shares.
    pub async fn shares(
        &self,
        prefix: &str,
        marker: Option<&Position>,
        max_results: usize,
        max_bytes: usize,
    ) -> Answer<(Vec<(String, ShareRecord)>, Option<Position>)> {
        let space = key::shares(self.account());
        ByName { space, prefix, marker, max_results, max_bytes }.page(self.reader()).await
    }

    /// The snapshots of a share by their moments: no more than a share may have.
    pub async fn share_snapshots(&self, share: &ShareRecord) -> Answer<Vec<(Timestamp, ShareRecord)>> {
        let range = tree::key::snapshots(PathRecord::SPACE, share.generation);
        let (mut snapshots, mut after) = (Vec::new(), None);
        loop {
            let page = self.reader().scan(Scan { after, ..Scan::of(range.clone()) }).await?;
            for (key, entry) in &page.items {
                let moment = tree::key::moment_of(key).ok_or(ErrorCode::InternalError)?;
                snapshots.push((Timestamp(moment), ShareRecord::decode(&entry.value)?));
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(snapshots);
            }
        }
    }
}
