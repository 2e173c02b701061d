//! Files and directories by path: found, created, replaced, changed, leased, renamed, deleted, listed.

use lazuli_engine::{KeyRange, Scan};
use lazuli_model::admission::{
    self, Circumstances, Kind, LeaseAction, LeaseChange, LeaseId, Preconditions, admit, sharing,
};
use lazuli_model::blob::CopyStatus;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{LeaseUse, Mode, Policy};
use lazuli_model::time::Timestamp;

use super::links::Named;
use super::{changed, key, usage};
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::file::{Described, DirectoryPage, FileAddress};
use crate::open_file::ChangeAction;
use crate::store::desk::WantedBreaks;
use crate::store::found::{Admitted, Found, Present, Resource};
use crate::store::record::Record;
use crate::store::record::path::{ExistingPath, PathBody, PathRecord};
use crate::store::record::share::ShareRecord;
use crate::store::tree::{Chain, Entry as _, Listing, NodeId, Slot, Tree};
use crate::store::unit::{Changes as _, Unit};

/// Rows about pending deletions that are read for a listing.
const FEW_PENDING: usize = 64;

/// Where a file or directory stands, or would.
pub struct PathPlace {
    pub(super) share_name: String,
    pub(super) share: ShareRecord,
    pub(super) snapshot: Option<Timestamp>,
    pub(super) at: Standing,
    /// Where the file has several names, the one that it was found by; then the record stands elsewhere.
    pub(super) named: Option<Named>,
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
        match (&self.at, &self.named) {
            (Standing::Root, _) => NodeId::NONE,
            (_, Some(named)) => named.slot.parent,
            (Standing::Entry(_, slot), None) => slot.parent,
        }
    }

    /// The numbers that clients know a node and what it stands in by. That of the root is 0.
    pub(super) fn numbers(&self, node: NodeId) -> (u64, u64) {
        let number = |node: NodeId| if node == self.share.root.node { 0 } else { node.number() };
        (number(node), number(self.parent()))
    }

    /// The number that clients of SMB know the directory by that it stands in; a root stands in itself.
    pub(super) fn parent_number(&self) -> u64 {
        match &self.at {
            Standing::Root => self.share.root.node.number(),
            Standing::Entry(..) => self.parent().number(),
        }
    }

    pub(super) fn described(&self, record: PathRecord) -> Described {
        let (id, parent_id) = self.numbers(record.node);
        Described { record, id, parent_id }
    }

    /// The directory that it stands in, or would.
    pub(super) fn parent_record(&self) -> Option<&PathRecord> {
        match &self.at {
            Standing::Root => None,
            Standing::Entry(chain, _) => Some(chain.ancestors.last().unwrap_or(&self.share.root)),
        }
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

    /// A file has another length: the share has more, or less.
    pub(super) async fn count(&self, unit: &mut Unit, node: NodeId, before: u64, after: u64) -> Answer<()> {
        let reader = unit.reader().clone();
        usage::count(&reader, unit, &self.share, node, before, after).await
    }

    /// The one place where a record is written over the one that was found.
    async fn write(&mut self, unit: &mut Unit, record: &mut PathRecord) -> Answer<()> {
        self.preserve(unit, record).await?;
        self.count(unit, record.node, self.before().map_or(0, PathRecord::length), record.length()).await?;
        if let Some(before) = self.before() {
            let filter = changed::difference(before, record);
            let (tree, parent) = (self.tree(), self.parent());
            unit.note_change(&tree, parent, &record.name, ChangeAction::Modified, filter).await?;
        }
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

    fn breaks(
        policy: &Policy,
        given: &Preconditions,
        account: &str,
        place: &PathPlace,
        found: &Self,
        now: Timestamp,
    ) -> Option<WantedBreaks> {
        let begins = policy.lease != LeaseUse::Manage || given.begins_lease;
        if found.opens.is_empty() || !begins {
            return None;
        }
        let breaks = sharing::all_breaks(policy.needs, &found.opens, now);
        let node = (place.share.generation, found.record.node);
        let (account, share) = (account.to_owned(), place.share_name.clone());
        (!breaks.is_empty()).then_some(WantedBreaks { account, share, node, breaks })
    }
}

impl<M: Mode> Unit<M> {
    /// What a path stands for, in a share or in a snapshot of it. The directories on the way must be there.
    pub async fn path(&self, at: &FileAddress) -> Answer<Found<ExistingPath, M>> {
        self.path_in(self.account(), at).await
    }

    /// The same in another account.
    pub(super) async fn path_in(&self, account: &str, at: &FileAddress) -> Answer<Found<ExistingPath, M>> {
        let share = self.share_in(account, &at.share, at.snapshot).await?;
        let moment = at.snapshot.map(|moment| moment.0);
        let standing = match share.tree().resolve(self.reader(), &at.path, moment).await? {
            None => Standing::Root,
            Some(chain) => {
                let slot = chain.slot().ok_or(ErrorCode::ParentNotFound)?;
                Standing::Entry(Box::new(chain), slot)
            }
        };
        let place = PathPlace {
            share_name: at.share.clone(),
            share,
            snapshot: at.snapshot,
            at: standing,
            named: None,
        };
        let place = place.follow(self).await?;
        let record = place.before().cloned();
        let existing = match record {
            Some(record) if at.snapshot.is_none() => {
                let (opens, all) = self.opens_of(place.share.generation, record.node).await?;
                let opens = opens.into_iter().map(|(_, open)| open.open).collect();
                Some(ExistingPath { record, opens, delete_pending: all.delete_pending })
            }
            // In a snapshot nothing is open, and nothing is leased; a copy that was under way then does not go on in it.
            record => record.map(|mut record| {
                if let Some(file) = record.file_mut() {
                    file.lease = None;
                    let copy = file.copy.as_mut();
                    if let Some(copy) = copy.filter(|copy| copy.status == CopyStatus::Pending) {
                        copy.status = CopyStatus::Aborted;
                    }
                }
                ExistingPath { record, opens: Vec::new(), delete_pending: false }
            }),
        };
        Ok(Found::new(self.clone(), place, existing))
    }
}

impl Admitted<ExistingPath> {
    /// Carries out a lease action. Only files have leases.
    pub async fn lease(self, action: &LeaseAction, fresh: LeaseId) -> Answer<(Stamped, LeaseChange)> {
        let change = self.admitted.act(action, fresh)?;
        let mut path = self.present()?;
        let file = path.record.record.file_mut().ok_or(ErrorCode::ResourceTypeMismatch)?;
        file.lease.clone_from(&change.lease);
        Ok((path.put().await?.stamped(), change))
    }
}

impl<M: Mode> Admitted<ExistingPath, M> {
    /// The file, for operations on files.
    pub fn file(self) -> Result<Present<ExistingPath, M>, Failure> {
        let path = self.present()?;
        match path.record.record.body {
            PathBody::File(_) => Ok(path),
            PathBody::Directory | PathBody::SymbolicLink { .. } | PathBody::Name => {
                Err(ErrorCode::ResourceNotFound.into())
            }
        }
    }

    /// The file or symbolic link, for operations on what both have.
    pub fn file_or_link(self) -> Result<Present<ExistingPath, M>, Failure> {
        let path = self.present()?;
        if path.record.record.is_directory() { Err(ErrorCode::ResourceNotFound.into()) } else { Ok(path) }
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

    /// Deletes a file, or a directory that is empty. Tells how many names a file of a share for NFS has left.
    pub async fn delete(self) -> Answer<Option<u32>> {
        let Self { mut unit, place, record, .. } = self;
        place.writable()?;
        let Standing::Entry(chain, slot) = &place.at else {
            return Err(ErrorCode::CannotDeleteFileOrDirectory.into());
        };
        let Some(found) = &chain.found else { return Err(ErrorCode::ResourceNotFound.into()) };
        if let Some(named) = &place.named {
            return place.unlink_name(&mut unit, named, record.record).await.map(Some);
        }
        let reader = unit.reader().clone();
        place.count(&mut unit, found.node, found.length(), 0).await?;
        place.tree().unlink(&reader, &mut unit, slot, found).await?;
        let filter = changed::name_filter(found);
        unit.note_change(&place.tree(), slot.parent, &found.name, ChangeAction::Removed, filter).await?;
        Ok(record.record.posix.is_some().then_some(0))
    }
}

impl<M: Mode> Present<ExistingPath, M> {
    /// The numbers that clients know it and the directory that it stands in by.
    pub fn numbers(&self) -> (u64, u64) {
        self.place.numbers(self.record.record.node)
    }

    /// The directory or file with the numbers that clients know it by.
    pub fn described(self) -> Described {
        self.place.described(self.record.record)
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
        self.follow_names(&mut entries).await?;
        if self.place.snapshot.is_none() {
            self.leave_out_pending(&mut entries).await?;
        }
        Ok(DirectoryPage { entries, next: page.next })
    }

    /// The files that entries are names of, in their place.
    async fn follow_names(&self, entries: &mut [PathRecord]) -> Answer<()> {
        let (tree, moment) = (self.place.tree(), self.place.snapshot.map(|moment| moment.0));
        for entry in entries.iter_mut().filter(|entry| entry.body == PathBody::Name) {
            *entry = self.unit.named(&tree, entry, moment).await?;
        }
        Ok(())
    }

    /// Few files of a share are pending deletion, mostly none; where there are many, the entries are looked up one by one.
    async fn leave_out_pending(&self, entries: &mut Vec<PathRecord>) -> Answer<()> {
        let (reader, generation) = (self.unit.reader(), self.place.share.generation);
        let range = KeyRange::prefix(key::all_pending(generation));
        let page = reader.scan(Scan { keys_only: true, limit: FEW_PENDING, ..Scan::of(range) }).await?;
        if !page.more {
            let pending: Vec<NodeId> =
                page.items.iter().filter_map(|(key, _)| key::pending_of(key)).collect();
            entries.retain(|entry| !pending.contains(&entry.node));
            return Ok(());
        }
        let keys = entries.iter().map(|entry| key::pending(generation, entry.node)).collect();
        let mut pending = reader.get_untracked_many(keys).await?.into_iter();
        entries.retain(|_| pending.next().flatten().is_none());
        Ok(())
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
        let page = self.place.tree().walk::<PathRecord>(reader, node, at, after, limit).await?;
        let mut items = page.items;
        for (_, entry) in &mut items {
            self.follow_names(std::slice::from_mut(entry)).await?;
        }
        Ok((items, page.next))
    }
}
