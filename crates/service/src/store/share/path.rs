//! Files and directories by path: found, created, replaced, changed, leased, renamed, deleted, listed.

use lazuli_engine::{KeyRange, Scan};
use lazuli_model::admission::{
    self, Circumstances, Kind, LeaseAction, LeaseChange, LeaseId, Preconditions, admit,
};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::etag::ETag;
use lazuli_model::operation::{Mode, Policy};
use lazuli_model::time::Timestamp;

use super::key;
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::file::{DirectoryPage, FileAddress, NewBody, NewPath};
use crate::store::found::{Admitted, Found, Present, Resource};
use crate::store::key::ContentId;
use crate::store::record::Record;
use crate::store::record::content::{Content, Shape};
use crate::store::record::path::{DIRECTORY, ExistingPath, FileBody, PathBody, PathRecord};
use crate::store::record::share::ShareRecord;
use crate::store::tree::{Chain, Entry as _, Listing, NodeId, Slot, Tree};
use crate::store::unit::{Changes as _, Unit};

/// Where a file or directory stands, or would.
pub struct PathPlace {
    pub(super) share_name: String,
    pub(super) share: ShareRecord,
    pub(super) snapshot: Option<Timestamp>,
    pub(super) at: Standing,
}

pub(super) enum Standing {
    /// The root, whose record is in that of the share.
    Root,
    /// Under a name. The chain has what was found there, as it was found.
    Entry(Box<Chain<PathRecord>>, Slot),
}

impl PathPlace {
    pub(super) fn tree(&self) -> Tree {
        self.share.tree()
    }

    /// The directory that it stands in: none above the root.
    pub fn parent(&self) -> NodeId {
        match &self.at {
            Standing::Root => NodeId::NONE,
            Standing::Entry(_, slot) => slot.parent,
        }
    }

    /// The numbers that clients know a node and what it stands in by. That of the root is 0.
    pub(super) fn numbers(&self, node: NodeId) -> (u64, u64) {
        let number = |node: NodeId| if node == self.share.root.node { 0 } else { node.number() };
        (number(node), number(self.parent()))
    }

    /// What stood there when it was found.
    fn before(&self) -> Option<&PathRecord> {
        match &self.at {
            Standing::Root => Some(&self.share.root),
            Standing::Entry(chain, _) => chain.found.as_ref(),
        }
    }

    /// Nothing is changed in a snapshot.
    pub(super) fn writable(&self) -> Result<(), Failure> {
        match self.snapshot {
            Some(_) => Err(ErrorCode::ShareSnapshotOperationNotSupported.into()),
            None => Ok(()),
        }
    }

    /// Before the record or its content is changed.
    pub(super) async fn preserve(&self, unit: &mut Unit, record: &mut PathRecord) -> Answer<()> {
        self.writable()?;
        if let (Standing::Entry(_, slot), Some(before)) = (&self.at, self.before()) {
            let (reader, now) = (unit.reader().clone(), unit.now());
            self.tree().preserve(&reader, unit, slot, before, record, now).await?;
        }
        Ok(())
    }

    /// The one place where a record is written over the one that was found.
    async fn write(&mut self, unit: &mut Unit, record: &mut PathRecord) -> Answer<()> {
        self.preserve(unit, record).await?;
        match &self.at {
            Standing::Root => {
                self.share.root = record.clone();
                unit.put(key::share(unit.account(), &self.share_name), self.share.encode());
            }
            Standing::Entry(_, slot) => self.tree().put(unit, slot, record),
        }
        Ok(())
    }
}

impl Resource for ExistingPath {
    type Given = Preconditions;
    type Place = PathPlace;

    const NOT_FOUND: ErrorCode = ErrorCode::ResourceNotFound;

    fn judge(
        policy: &Policy,
        given: &Preconditions,
        found: Option<Self>,
        circumstances: Circumstances,
    ) -> Result<admission::Admitted<Self>, Failure> {
        admit(policy, given, Kind::File, found, circumstances)
    }
}

impl<M: Mode> Unit<M> {
    /// What a path stands for, in a share or in a snapshot of it. The directories on the way must be there.
    pub async fn path(&self, at: &FileAddress) -> Answer<Found<ExistingPath, M>> {
        let share = self.share_of(&at.share, at.snapshot).await?;
        let moment = at.snapshot.map(|moment| moment.0);
        let (standing, record) = match share.tree().resolve(self.reader(), &at.path, moment).await? {
            None => (Standing::Root, Some(share.root.clone())),
            Some(chain) => {
                let slot = chain.slot().ok_or(ErrorCode::ParentNotFound)?;
                let found = chain.found.clone();
                (Standing::Entry(Box::new(chain), slot), found)
            }
        };
        let existing = match record {
            Some(record) if at.snapshot.is_none() => {
                let (opens, delete_pending) = self.opens_of(share.generation, record.node).await?;
                let opens = opens.into_iter().map(|(_, open)| open.open).collect();
                Some(ExistingPath { record, opens, delete_pending })
            }
            // In a snapshot nothing is open, and nothing is leased.
            record => record.map(|mut record| {
                if let Some(file) = record.file_mut() {
                    file.lease = None;
                }
                ExistingPath { record, opens: Vec::new(), delete_pending: false }
            }),
        };
        let place = PathPlace { share_name: at.share.clone(), share, snapshot: at.snapshot, at: standing };
        Ok(Found::new(self.clone(), place, existing))
    }
}

impl Admitted<ExistingPath> {
    /// Makes a directory, a file of zeros or a symbolic link. A file may be put in the place of one: it keeps its identity
    /// and its lease.
    pub async fn create(self, new: &NewPath) -> Answer<PathRecord> {
        let Self { mut unit, place, admitted, .. } = self;
        place.writable()?;
        let now = unit.now();
        let old = admitted.into_record().map(|existing| existing.record);
        match (&new.body, old.as_ref().map(|old| &old.body)) {
            (_, None) | (NewBody::File { .. }, Some(PathBody::File(_))) => {}
            (NewBody::File { .. }, Some(PathBody::Directory)) => {
                return Err(ErrorCode::ResourceTypeMismatch.into());
            }
            _ => return Err(ErrorCode::ResourceAlreadyExists.into()),
        }
        let etag = ETag(old.as_ref().map_or(now.0, |old| now.0.max(old.etag.0 + 1)));
        let mut record = PathRecord {
            node: old.as_ref().map_or_else(|| NodeId::fresh(now), |old| old.node),
            name: String::new(),
            since: 0,
            etag,
            last_modified: Timestamp(etag.0),
            times: new.times,
            attributes: new.attributes,
            permission: new.permission,
            metadata: new.metadata.clone(),
            posix: new.posix.clone(),
            body: body(&new.body, now),
        };
        if record.is_directory() {
            record.attributes |= DIRECTORY;
        }
        let Standing::Entry(chain, slot) = &place.at else {
            return Err(ErrorCode::ResourceAlreadyExists.into());
        };
        let Some(old) = old else {
            record.name.clone_from(&chain.name);
            place.tree().insert(&mut unit, slot, &mut record);
            return Ok(record);
        };
        record.name.clone_from(&old.name);
        if let (Some(file), Some(old)) = (record.file_mut(), old.file()) {
            file.lease.clone_from(&old.lease);
            file.links = old.links;
        }
        let Some(before) = &chain.found else { return Err(ErrorCode::ResourceNotFound.into()) };
        let reader = unit.reader().clone();
        place.tree().replace(&reader, &mut unit, slot, before, &mut record).await?;
        Ok(record)
    }

    /// Carries out a lease action. Only files have leases.
    pub async fn lease(self, action: &LeaseAction, fresh: LeaseId) -> Answer<(Stamped, LeaseChange)> {
        let change = self.admitted.act(action, fresh)?;
        let mut path = self.present()?;
        let file = path.record.record.file_mut().ok_or(ErrorCode::ResourceTypeMismatch)?;
        file.lease.clone_from(&change.lease);
        Ok((path.put().await?.stamped(), change))
    }
}

fn body(new: &NewBody, now: Timestamp) -> PathBody {
    match new {
        NewBody::Directory => PathBody::Directory,
        NewBody::SymbolicLink { target } => PathBody::SymbolicLink { target: target.clone() },
        NewBody::File { length, headers } => PathBody::File(Box::new(FileBody {
            content: Content { id: ContentId::fresh(now), length: *length, shape: Shape::Sparse },
            headers: headers.clone(),
            lease: None,
            copy: None,
            links: 1,
        })),
    }
}

impl<M: Mode> Admitted<ExistingPath, M> {
    /// The file, for operations on files.
    pub fn file(self) -> Result<Present<ExistingPath, M>, Failure> {
        let path = self.present()?;
        match path.record.record.body {
            PathBody::File(_) => Ok(path),
            PathBody::Directory | PathBody::SymbolicLink { .. } => Err(ErrorCode::ResourceNotFound.into()),
        }
    }

    /// The directory, for operations on directories.
    pub fn directory(self) -> Result<Present<ExistingPath, M>, Failure> {
        let path = self.present()?;
        if path.record.record.is_directory() { Ok(path) } else { Err(ErrorCode::ResourceNotFound.into()) }
    }
}

impl Present<ExistingPath> {
    /// Writes what was changed.
    pub async fn put(mut self) -> Answer<PathRecord> {
        if self.changes_etag() {
            let now = self.unit.now();
            self.record.record.touch(now);
        }
        self.place.write(&mut self.unit, &mut self.record.record).await?;
        Ok(self.record.record)
    }

    /// Deletes a file, or a directory that is empty.
    pub async fn delete(self) -> Answer<()> {
        let Self { mut unit, place, .. } = self;
        place.writable()?;
        let Standing::Entry(chain, slot) = &place.at else {
            return Err(ErrorCode::CannotDeleteFileOrDirectory.into());
        };
        let Some(found) = &chain.found else { return Err(ErrorCode::ResourceNotFound.into()) };
        let reader = unit.reader().clone();
        place.tree().unlink(&reader, &mut unit, slot, found).await
    }

    /// Gives it the name and the directory that `to` stands for, with everything below it. What stands there goes, if
    /// `replaces` says so and it is a file. Both were found by one unit. What else changes, `change` says.
    pub async fn rename(
        self,
        to: Admitted<ExistingPath>,
        replaces: bool,
        change: impl FnOnce(&mut PathRecord),
    ) -> Answer<PathRecord> {
        let changes_etag = self.changes_etag();
        let Self { mut unit, place, record, .. } = self;
        place.writable()?;
        to.place.writable()?;
        if place.share.generation != to.place.share.generation {
            return Err(ErrorCode::InvalidInput.into());
        }
        let (Standing::Entry(from, source), Standing::Entry(chain, slot)) = (&place.at, &to.place.at) else {
            return Err(ErrorCode::ResourceAlreadyExists.into());
        };
        let Some(before) = &from.found else { return Err(ErrorCode::ResourceNotFound.into()) };
        if let Some(there) = &chain.found
            && slot != source
        {
            if !replaces {
                return Err(ErrorCode::ResourceAlreadyExists.into());
            }
            match (before.is_directory(), there.is_directory()) {
                (false, false) => {}
                // A directory replaces nothing.
                (true, true) => return Err(ErrorCode::ResourceAlreadyExists.into()),
                _ => return Err(ErrorCode::ResourceTypeMismatch.into()),
            }
        }
        let now = unit.now();
        let mut record = record.record;
        if changes_etag {
            record.touch(now);
        }
        change(&mut record);
        let reader = unit.reader().clone();
        place.tree().relink(&reader, &mut unit, (source, before), chain, &mut record, now).await?;
        Ok(record)
    }
}

impl<M: Mode> Present<ExistingPath, M> {
    /// `x-ms-file-id` and `x-ms-file-parent-id`.
    pub fn numbers(&self) -> (u64, u64) {
        self.place.numbers(self.record.record.node)
    }

    /// What stands in the directory. What is pending deletion is left out.
    pub async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        max_bytes: usize,
    ) -> Answer<DirectoryPage> {
        let prefix = PathRecord::fold(prefix);
        let asked = Listing {
            parent: self.record.record.node,
            at: self.place.snapshot.map(|moment| moment.0),
            prefix: &prefix,
            after,
            limit,
            max_bytes,
        };
        let reader = self.unit.reader();
        let page = self.place.tree().list::<PathRecord>(reader, &asked).await?;
        let mut entries: Vec<PathRecord> = page.items.into_iter().map(|(_, entry)| entry).collect();
        if self.place.snapshot.is_none() {
            let range = KeyRange::prefix(key::all_pending(self.place.share.generation));
            let pending = reader.scan(Scan { keys_only: true, ..Scan::of(range) }).await?;
            let pending: Vec<NodeId> =
                pending.items.iter().filter_map(|(key, _)| key::pending_of(key)).collect();
            entries.retain(|entry| !pending.contains(&entry.node));
        }
        Ok(DirectoryPage { entries, next: page.next })
    }

    /// Everything below the directory, each with its path from here, as names are compared: a directory before what stands
    /// in it. `after` is the last path of the page before.
    pub async fn walk(
        &self,
        after: Option<&[String]>,
        limit: usize,
    ) -> Answer<(Vec<(Vec<String>, PathRecord)>, Option<Vec<String>>)> {
        let at = self.place.snapshot.map(|moment| moment.0);
        let (reader, node) = (self.unit.reader(), self.record.record.node);
        let page = self.place.tree().walk(reader, node, at, after, limit).await?;
        Ok((page.items, page.next))
    }
}
