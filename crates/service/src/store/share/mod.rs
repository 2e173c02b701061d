//! Shares: found, created, changed, ended, and their snapshots. What stands in a share is a
//! [tree](crate::store::tree).

mod breaks;
mod change;
mod changed;
mod copied;
mod copy;
mod create;
mod deleted;
mod handles;
pub(in crate::store) mod key;
mod links;
mod list;
mod moments;
mod moved;
mod open;
mod opened;
mod opens;
mod path;
mod permission;
mod ranges;
mod reconnect;
mod rows;
mod source;
mod usage;
mod write;

pub(in crate::store) use copied::FileDestination;
pub use copy::NewCopiedFile;
pub use create::Filled;
pub use handles::{Held, Watched};
pub use moments::Earlier;
pub(crate) use moved::InTheWay;
pub(crate) use open::{NewlyOpened, Opener, Opening};
pub(crate) use opened::OpenKey;
pub use opens::{Attended, NewOpen};
pub(in crate::store) use opens::{end_letters, end_lost as end_lost_opens};
pub use path::PathPlace;
pub use source::SourceFile;
pub(crate) use write::FileWrite;

use lazuli_engine::Scan;
use lazuli_model::admission::{
    self, Circumstances, Kind, LeaseAction, LeaseChange, LeaseId, LeaseState, Preconditions, admit, lease,
};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Mode, Policy};
use lazuli_model::time::Timestamp;

use super::found::{Admitted, Found, Present, Resource};
use super::key::Generation;
use super::record::Record;
use super::record::path::{DIRECTORY, FileTimes, PathBody, PathRecord};
use super::record::share::ShareRecord;
use super::tree::{self, Entry as _, NodeId, Tree};
use super::unit::{Changes as _, Unit};
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::file::{NewShare, ShareAddress, ShareChoices, ShareSettings};

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
    /// A share, or a snapshot of one that is there.
    pub async fn share(&self, at: &ShareAddress) -> Answer<Found<ShareRecord, M>> {
        let place = SharePlace { name: at.share.clone(), snapshot: at.snapshot };
        let record = match at.snapshot {
            None => self.find_share(&at.share).await?,
            Some(moment) => self.find_snapshot(&self.share_of(&at.share, None).await?, moment).await?,
        };
        Ok(Found::new(self.clone(), place, record))
    }

    async fn find_share(&self, name: &str) -> Answer<Option<ShareRecord>> {
        self.find_share_in(self.account(), name).await
    }

    async fn find_share_in(&self, account: &str, name: &str) -> Answer<Option<ShareRecord>> {
        Ok(match self.reader().get(key::share(account, name)).await? {
            Some(entry) => Some(ShareRecord::decode(&entry.value)?),
            None => None,
        })
    }

    /// The share that an operation works in, or its snapshot. The read is a check of the commit: what is written while the
    /// share is deleted, or while a snapshot of it is taken, is decided again.
    pub(super) async fn share_of(&self, name: &str, snapshot: Option<Timestamp>) -> Answer<ShareRecord> {
        self.share_in(self.account(), name, snapshot).await
    }

    async fn share_in(&self, account: &str, name: &str, snapshot: Option<Timestamp>) -> Answer<ShareRecord> {
        let share = self.find_share_in(account, name).await?.ok_or(ErrorCode::ShareNotFound)?;
        match snapshot {
            None => Ok(share),
            // Of a snapshot too it is the share that is not found (recorded).
            Some(moment) => Ok(self.find_snapshot(&share, moment).await?.ok_or(ErrorCode::ShareNotFound)?),
        }
    }

    async fn find_snapshot(&self, share: &ShareRecord, moment: Timestamp) -> Answer<Option<ShareRecord>> {
        let key = tree::key::snapshot(PathRecord::SPACE, share.generation, moment.0);
        Ok(match self.reader().get(key).await? {
            Some(entry) => Some(ShareRecord::decode(&entry.value)?),
            None => None,
        })
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
            // Another one than the share's (recorded).
            etag: ETag(now.0 + 1),
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
    /// Gives the share other settings. A new quota is divided among those that count what it holds.
    pub async fn set(mut self, choices: &ShareChoices) -> Answer<(Stamped, ShareSettings)> {
        let quota = self.record.settings.quota();
        choices.apply(&mut self.record.settings, Some(self.unit.now()))?;
        if self.record.settings.quota() != quota {
            let reader = self.unit.reader().clone();
            usage::divide(&reader, &mut self.unit, &self.record).await?;
        }
        let settings = self.record.settings.clone();
        Ok((self.put(), settings))
    }

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
    /// afterwards keeps what it was. The share's own ETag stays, and is the snapshot's unless that has other metadata.
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
            copy.touch(self.unit.now());
        }
        let key = tree::key::snapshot(PathRecord::SPACE, self.record.generation, moment);
        self.unit.put(key, copy.encode());
        self.record.moment = moment;
        self.record.snapshots += 1;
        self.write();
        Ok((Timestamp(moment), copy.stamped()))
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
