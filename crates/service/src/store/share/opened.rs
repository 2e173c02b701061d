//! A file by one of its opens, wherever it stands: what is done through the open is judged by all opens of the file, and they are
//! checks of the commit.

use std::sync::Arc;

use lazuli_engine::Reader;
use lazuli_model::admission::caching::{Act, Actor, breaks_of};
use lazuli_model::admission::locks;
use lazuli_model::admission::sharing::{Break, ByteRangeLock, Open};
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::{Mode, Op, Policy};
use lazuli_model::sddl::SecurityDescriptor;
use lazuli_model::time::Timestamp;

use super::opens::{self, write_opens};
use super::path::{PathPlace, Standing};
use super::rows::OpenRows;
use super::usage;
use crate::fault::Answer;
use crate::file::FileAddress;
use crate::open_file::{Outcome, Refusal};
use crate::store::desk::Node;
use crate::store::found::Present;
use crate::store::key::Generation;
use crate::store::record::Record as _;
use crate::store::record::open::OpenRecord;
use crate::store::record::path::{ExistingPath, PathRecord};
use crate::store::record::place::PlaceRecord;
use crate::store::record::share::ShareRecord;
use crate::store::tree::{self, Chain, Entry as _, NodeId, Slot};
use crate::store::unit::Unit;

/// What is done to a file through an open changes its ETag, as a write over REST does.
pub(super) static CHANGES: Policy = Op::PutRange.row().policy;

/// Directories above a node that are looked at.
pub(super) const DEEPEST: usize = 1_000;

/// Which open.
#[derive(Clone, Debug)]
pub(crate) struct OpenKey {
    pub share: Arc<str>,
    pub generation: Generation,
    pub node: NodeId,
    pub handle: u64,
    /// In a snapshot there are no rows of opens: the file is found by its path.
    pub snapshot: Option<(Timestamp, Arc<[String]>)>,
}

impl OpenKey {
    pub fn node(&self) -> Node {
        (self.generation, self.node)
    }
}

/// A file, through an open of it.
pub(crate) struct Opened<M: Mode> {
    pub(in crate::store) unit: Unit<M>,
    pub(super) place: PathPlace,
    pub record: PathRecord,
    pub(super) rows: OpenRows,
    pub(super) handle: u64,
}

impl<M: Mode> Unit<M> {
    /// What an open is of. Refused where the open is over.
    pub(crate) async fn opened(&self, at: &OpenKey) -> Outcome<Opened<M>> {
        if let Some((moment, path)) = &at.snapshot {
            return self.opened_in_snapshot(at, *moment, path).await;
        }
        let opened = self.opened_by_any(at).await?;
        if opened.own().is_some() { Ok(opened) } else { Err(Refusal::FileClosed) }
    }

    /// The file that an open was of, whether that is over or not.
    pub(super) async fn opened_by_any(&self, at: &OpenKey) -> Outcome<Opened<M>> {
        let share = self.share_of_open(at).await?;
        let rows = self.open_rows(at.node()).await?;
        // Of a file that is gone, what is open is gone with it.
        let gone = if rows.get(at.handle).is_some() { Refusal::FileDeleted } else { Refusal::FileClosed };
        let (place, record) = self.place_of_node(&at.share, share, at.node).await?.ok_or(gone)?;
        Ok(Opened { unit: self.clone(), place, record, rows, handle: at.handle })
    }

    async fn opened_in_snapshot(
        &self,
        at: &OpenKey,
        moment: Timestamp,
        path: &[String],
    ) -> Outcome<Opened<M>> {
        let address =
            FileAddress { share: at.share.to_string(), snapshot: Some(moment), path: path.to_vec() };
        let (unit, place, existing) = self.path(&address).await?.into_parts();
        let record = existing.ok_or(Refusal::FileDeleted)?.record;
        Ok(Opened { unit, place, record, rows: OpenRows::none(at.node()), handle: at.handle })
    }

    /// The share that the open is of, and not another one of its name.
    pub(super) async fn share_of_open(&self, at: &OpenKey) -> Outcome<ShareRecord> {
        let share = self.share_of(&at.share, None).await.map_err(|fault| match fault.0.code {
            ErrorCode::ShareNotFound => Refusal::FileClosed,
            _ => fault.into(),
        })?;
        if share.generation == at.generation { Ok(share) } else { Err(Refusal::FileClosed) }
    }

    /// Where a node stands now; none for one that is gone.
    pub(super) async fn place_of_node(
        &self,
        share_name: &str,
        share: ShareRecord,
        node: NodeId,
    ) -> Answer<Option<(PathPlace, PathRecord)>> {
        let (at, record) = if node == share.root.node {
            (Standing::Root, share.root.clone())
        } else {
            let Some(tag) = PathRecord::SPACE.place else { return Ok(None) };
            let Some(entry) = self.reader().get(tree::key::place(tag, node)).await? else { return Ok(None) };
            let PlaceRecord { parent, folded } = PlaceRecord::decode(&entry.value)?;
            let slot = Slot { parent, folded };
            let found = share.tree().look::<PathRecord>(self.reader(), &slot, None).await?;
            let Some(record) = found.filter(|found| found.node == node) else { return Ok(None) };
            let chain = Chain {
                ancestors: Vec::new(),
                missing: Vec::new(),
                blocked: false,
                nearest: parent,
                name: record.name.clone(),
                found: Some(record.clone()),
            };
            (Standing::Entry(Box::new(chain), slot), record)
        };
        let place = PathPlace { share_name: share_name.to_owned(), share, snapshot: None, at, named: None };
        Ok(Some((place, record)))
    }
}

impl PathPlace {
    /// How many directories lead to it, without the root. What was found by an open does not know them: they are read, as checks of the commit.
    pub(super) async fn names_above(&self, reader: &Reader) -> Answer<usize> {
        let Standing::Entry(chain, _) = &self.at else { return Ok(0) };
        let (mut names, mut at, root) = (chain.ancestors.len(), self.parent(), self.share.root.node);
        let Some(tag) = PathRecord::SPACE.place.filter(|_| names == 0) else { return Ok(names) };
        while at != root && names < DEEPEST {
            let place = reader.get(tree::key::place(tag, at)).await?;
            at = PlaceRecord::decode(&place.ok_or(ErrorCode::ResourceNotFound)?.value)?.parent;
            names += 1;
        }
        Ok(names)
    }
}

impl<M: Mode> Opened<M> {
    pub fn own(&self) -> Option<&OpenRecord> {
        self.rows.get(self.handle)
    }

    pub fn delete_pending(&self) -> bool {
        self.rows.all.delete_pending
    }

    /// The number of the directory that it stands in.
    pub fn parent_number(&self) -> u64 {
        self.place.parent_number()
    }

    fn opens(&self) -> Vec<Open> {
        self.rows.opens()
    }

    fn actor(&self) -> Actor {
        Actor { handle: Some(self.handle), owner: self.own().and_then(|own| own.open.kept.owner) }
    }

    /// Whether the locks of all opens let it read or write a range.
    pub fn check_locks(&self, writes: bool, offset: u64, length: u64) -> Outcome<()> {
        match locks::may_touch(writes, self.handle, offset, length, &self.opens()) {
            true => Ok(()),
            false => Err(Refusal::FileLockConflict),
        }
    }

    /// Whether every lock there is lets it lock a range.
    pub fn may_lock(&self, lock: &ByteRangeLock) -> bool {
        locks::may_lock(lock, self.handle, &self.opens())
    }

    /// What others have to give up for this.
    pub fn breaks(&self, act: Act) -> Vec<(u64, Break)> {
        breaks_of(act, self.actor(), &self.opens(), self.unit.now())
    }

    pub fn is_root(&self) -> bool {
        matches!(self.place.at, Standing::Root)
    }
}

impl Opened<lazuli_model::operation::Writes> {
    /// Tells others to give up what this needs. True when the client has to wait for them: then nothing else may be written.
    pub async fn must_wait(&mut self, act: Act) -> Outcome<bool> {
        let breaks = self.breaks(act);
        if breaks.is_empty() {
            return Ok(false);
        }
        let applied = self.rows.apply(&breaks, self.unit.now());
        if let Some(handle) = applied.disconnected {
            if breaks.iter().any(|(other, change)| *other == handle && change.waits) {
                let node = self.rows.node.1;
                opens::close_in(&mut self.unit, &self.place.share, node, handle).await?;
                return Ok(true);
            }
            self.rows.give_up(handle);
        }
        if applied.waits {
            self.rows.write(&mut self.unit);
        }
        Ok(applied.waits)
    }

    /// The file, to be changed and put. What was written down of breaks goes with it.
    pub fn present(mut self) -> Present<ExistingPath> {
        self.rows.write(&mut self.unit);
        let Self { unit, place, record, .. } = self;
        let record = ExistingPath { record, opens: Vec::new(), delete_pending: false };
        Present { unit, place, policy: &CHANGES, record }
    }

    /// Changes the row of the open itself.
    pub fn change_own(mut self, change: impl FnOnce(&mut OpenRecord)) {
        self.rows.change(self.handle, change);
        self.rows.write(&mut self.unit);
    }

    /// All opens of one lease, or this open alone.
    pub fn change_kept(mut self, change: impl Fn(&mut OpenRecord)) {
        match self.actor().owner {
            Some(owner) => self.rows.change_lease(owner, change),
            None => drop(self.rows.change(self.handle, change)),
        }
        self.rows.write(&mut self.unit);
    }

    /// The file goes when it is closed, or stays.
    pub async fn set_pending(mut self, pending: bool) -> Outcome<()> {
        if pending && self.record.is_directory() {
            let Standing::Entry(_, slot) = &self.place.at else { return Err(Refusal::CannotDelete) };
            let tree = self.place.tree();
            if !tree.is_empty(self.unit.reader(), slot, &self.record).await? {
                return Err(Refusal::DirectoryNotEmpty);
            }
        }
        self.rows.write(&mut self.unit);
        self.rows.all.delete_pending = pending;
        let (generation, node) = self.rows.node;
        write_opens(&mut self.unit, generation, node, self.rows.all);
        self.unit.notes().desk.wakes.push(self.rows.node);
        // Watches of a directory are told that it goes.
        if self.record.is_directory() {
            for server in self.rows.servers() {
                self.unit.tell_of_opens(server, (generation, node));
            }
        }
        Ok(())
    }
}

impl Unit {
    /// Closes an open, wherever its file stands now. False where it is over already.
    pub(crate) async fn close_opened(&mut self, at: &OpenKey) -> Outcome<bool> {
        let share = self.share_of_open(at).await?;
        Ok(opens::close_in(self, &share, at.node, at.handle).await?)
    }
}

impl<M: Mode> Unit<M> {
    /// How much a share may hold, and does.
    pub(crate) async fn room_of(&self, share: &ShareRecord) -> Answer<(u64, u64)> {
        Ok((usage::most(share), self.share_usage(share).await?))
    }
}

impl<M: Mode> Opened<M> {
    /// The directory or file, to be looked at.
    pub fn look(self) -> Present<ExistingPath, M> {
        let Self { unit, place, record, .. } = self;
        let record = ExistingPath { record, opens: Vec::new(), delete_pending: false };
        Present { unit, place, policy: &CHANGES, record }
    }

    /// What it has for a security descriptor.
    pub async fn security(&self) -> Outcome<SecurityDescriptor> {
        let (generation, key) = (self.place.share.generation, self.record.permission_key());
        let found = self.unit.find_permission(generation, key).await?;
        found.ok_or_else(|| ErrorCode::InternalError.into())
    }

    /// The names that lead to it, as they are spelt.
    pub async fn names(&self) -> Outcome<Vec<String>> {
        let (reader, tree) = (self.unit.reader(), self.place.tree());
        let moment = self.place.snapshot.map(|moment| moment.0);
        let Standing::Entry(chain, slot) = &self.place.at else { return Ok(Vec::new()) };
        if moment.is_some() {
            let above = chain.ancestors.iter().map(|ancestor| ancestor.name.clone());
            return Ok(above.chain([self.record.name.clone()]).collect());
        }
        let (mut names, mut at) = (vec![self.record.name.clone()], slot.parent);
        let Some(tag) = PathRecord::SPACE.place else { return Ok(names) };
        while at != tree.root && names.len() < DEEPEST {
            let place = reader.get_untracked(tree::key::place(tag, at)).await?.ok_or(Refusal::FileDeleted)?;
            let PlaceRecord { parent, folded } = PlaceRecord::decode(&place.value)?;
            let above = Slot { parent, folded };
            let found = reader.get_untracked(above.key::<PathRecord>()).await?.ok_or(Refusal::FileDeleted)?;
            names.push(PathRecord::decode(&found.value)?.name);
            at = parent;
        }
        names.reverse();
        Ok(names)
    }
}

impl Present<ExistingPath> {
    /// Gives it a security descriptor of its own.
    pub(crate) async fn set_security(&mut self, new: &SecurityDescriptor) -> Outcome<()> {
        let key = self.unit.keep_permission(self.place.share.generation, new).await?;
        self.record.record.permission = Some(key.to_number());
        Ok(())
    }

    /// Puts bytes into the file, which grows as far as they need it.
    pub(crate) async fn write_and_grow(
        mut self,
        offset: u64,
        uploaded: &crate::store::upload::Uploaded,
    ) -> Outcome<PathRecord> {
        let end = offset.saturating_add(uploaded.length);
        let file = self.record.record.file_mut().ok_or(Refusal::InvalidDeviceRequest)?;
        file.content.length = file.content.length.max(end);
        Ok(self.write_range(offset..end, uploaded).await?)
    }
}
