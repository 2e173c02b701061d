//! Files of several names, in shares for NFS. The record of such a file stands under its own node, in the slot of no name;
//! each of its names is an entry that holds nothing but the node. So whatever is done to the file is done in one place, and
//! snapshots keep what both were.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Mode;

use super::path::{PathPlace, Standing};
use crate::fault::Answer;
use crate::file::Described;
use crate::store::found::{Admitted, Present};
use crate::store::record::path::{ExistingPath, PathBody, PathRecord};
use crate::store::record::share::ShareProtocol;
use crate::store::tree::{self, Entry as _, NodeId, Slot, Tree};
use crate::store::unit::{Changes as _, Unit};

/// One of several names of a file: where it stands, and the entry as it was found.
pub(super) struct Named {
    pub slot: Slot,
    pub entry: PathRecord,
}

/// Where the record of a file of several names stands.
pub(super) fn own_slot(node: NodeId) -> Slot {
    Slot { parent: node, folded: String::new() }
}

fn name_of(record: &PathRecord, name: &str) -> PathRecord {
    let (name, permission, posix) = (name.to_owned(), None, None);
    PathRecord {
        name,
        permission,
        posix,
        metadata: Default::default(),
        body: PathBody::Name,
        ..record.clone()
    }
}

impl<M: Mode> Unit<M> {
    /// The file that an entry is one of the names of, as it is now or was at the moment of a snapshot.
    pub(super) async fn named(&self, tree: &Tree, entry: &PathRecord, at: Option<u64>) -> Answer<PathRecord> {
        let found = tree.look::<PathRecord>(self.reader(), &own_slot(entry.node), at).await?;
        let record =
            found.ok_or_else(|| Failure::new(ErrorCode::InternalError).cause("a name of no file"))?;
        Ok(PathRecord { name: entry.name.clone(), ..record })
    }
}

impl PathPlace {
    /// The place of a name of several is that of the file's record, and the name beside it.
    pub(super) async fn follow<M: Mode>(mut self, unit: &Unit<M>) -> Answer<Self> {
        let (tree, moment) = (self.tree(), self.snapshot.map(|moment| moment.0));
        let Standing::Entry(chain, slot) = &mut self.at else { return Ok(self) };
        if let Some(entry) = chain.found.take_if(|entry| entry.body == PathBody::Name) {
            chain.found = Some(unit.named(&tree, &entry, moment).await?);
            let slot = std::mem::replace(slot, own_slot(entry.node));
            self.named = Some(Named { slot, entry });
        }
        Ok(self)
    }

    /// Takes a name from its file; the last one with the file. Tells how many are left.
    pub(super) async fn unlink_name(
        &self,
        unit: &mut Unit,
        named: &Named,
        record: PathRecord,
    ) -> Answer<u32> {
        let (tree, reader, now) = (self.tree(), unit.reader().clone(), unit.now());
        tree.unlink(&reader, unit, &named.slot, &named.entry).await?;
        let Standing::Entry(chain, slot) = &self.at else { return Err(ErrorCode::InternalError.into()) };
        let Some(before) = &chain.found else { return Err(ErrorCode::InternalError.into()) };
        let mut record = record;
        let left = match record.file_mut() {
            Some(file) => {
                file.links = file.links.saturating_sub(1);
                file.links
            }
            None => 0,
        };
        if left == 0 {
            self.count(unit, record.node, before.length(), 0).await?;
            tree.unlink(&reader, unit, slot, before).await?;
        } else {
            record.times.changed = now;
            tree.preserve(&reader, unit, slot, before, &mut record, now).await?;
            tree.put(unit, slot, &record);
        }
        Ok(left)
    }
}

impl PathPlace {
    /// Before another name is put here: one of several names goes first, its file stays.
    pub(super) async fn give_way(&mut self, unit: &mut Unit, coming: &Slot) -> Answer<()> {
        let Some(named) = self.named.take_if(|named| named.slot != *coming) else { return Ok(()) };
        let Standing::Entry(chain, _) = &self.at else { return Ok(()) };
        if let Some(record) = chain.found.clone() {
            self.unlink_name(unit, &named, record).await?;
        }
        if let Standing::Entry(chain, slot) = &mut self.at {
            chain.found = None;
            *slot = named.slot;
        }
        Ok(())
    }
}

impl Admitted<ExistingPath> {
    /// Makes this the name of a file that is there. Both were found by one unit.
    pub async fn link(self, target: Present<ExistingPath>) -> Answer<Described> {
        let Self { mut unit, place, admitted, .. } = self;
        place.writable()?;
        if place.share.settings.protocol != ShareProtocol::Nfs {
            return Err(Failure::new(ErrorCode::InvalidInput).with_message(NFS_ONLY).into());
        }
        let Standing::Entry(chain, slot) = &place.at else {
            return Err(ErrorCode::ResourceAlreadyExists.into());
        };
        if admitted.record().is_some() {
            return Err(ErrorCode::ResourceAlreadyExists.into());
        }
        let (tree, reader, now) = (place.tree(), unit.reader().clone(), unit.now());
        let (Standing::Entry(from, own), mut record) = (&target.place.at, target.record.record) else {
            return Err(ErrorCode::ResourceTypeMismatch.into());
        };
        let Some(before) = &from.found else { return Err(ErrorCode::ResourceNotFound.into()) };
        let file = record.file_mut().ok_or(ErrorCode::ResourceTypeMismatch)?;
        file.links = file.links.checked_add(1).ok_or(ErrorCode::InvalidInput)?;
        record.touch(now);
        record.times.changed = now;
        tree.preserve(&reader, &mut unit, own, before, &mut record, now).await?;
        if target.place.named.is_none() {
            // Its record goes under its node, and what stood in its entry is the first of its names.
            let mut first = name_of(&record, &record.name);
            first.set_since(tree.moment);
            tree.put(&mut unit, own, &first);
            if let Some(tag) = PathRecord::SPACE.place {
                unit.delete(tree::key::place(tag, record.node));
            }
        }
        tree.put(&mut unit, &own_slot(record.node), &record);
        tree.insert(&mut unit, slot, &mut name_of(&record, &chain.name));
        record.name.clone_from(&chain.name);
        Ok(place.described(record))
    }
}

pub(super) const NFS_ONLY: &str = "Links are of shares for NFS only.";
