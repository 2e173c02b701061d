//! A file that a copy is writing while its client has been answered: found by its node, filled, emptied, aborted.

use lazuli_engine::Scan;
use lazuli_model::blob::{CopyState, CopyStatus};
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::path::Standing;
use super::{key, links, usage};
use crate::fault::Answer;
use crate::store::found::Present;
use crate::store::key::{ContentId, Generation, copy_job};
use crate::store::new_content::NewContent;
use crate::store::pages;
use crate::store::record::Record as _;
use crate::store::record::content::{Content, Shape};
use crate::store::record::deleted_share::DeletedShare;
use crate::store::record::path::{ExistingPath, PathRecord};
use crate::store::record::place::PlaceRecord;
use crate::store::record::share::ShareRecord;
use crate::store::tree::{self, Entry as _, NodeId, Slot};
use crate::store::unit::{Changes as _, Unit};

/// The file of a copy, wherever it stands now.
pub(in crate::store) struct FileDestination {
    share: ShareRecord,
    slot: Slot,
    before: PathRecord,
    record: PathRecord,
}

impl FileDestination {
    pub fn copy_mut(&mut self) -> Option<&mut CopyState> {
        self.record.file_mut()?.copy.as_mut()
    }

    /// Puts bytes in place of what there is, to be written.
    pub async fn fill(&mut self, unit: &mut Unit, new: &NewContent) -> Answer<()> {
        self.record.set_content(pages::of_upload(unit, new.uploaded()));
        Ok(())
    }

    /// Takes what there is, to be written.
    pub fn empty(&mut self, now: Timestamp) {
        let id = ContentId::fresh(now);
        self.record.set_content(Content { id, length: 0, shape: Shape::Sparse });
    }

    pub fn touch(&mut self, now: Timestamp) -> Timestamp {
        self.record.touch(now);
        self.record.last_modified
    }

    /// Once in a commit.
    pub async fn write(&mut self, unit: &mut Unit) -> Answer<()> {
        let Self { share, slot, before, record } = self;
        let (tree, reader, now) = (share.tree(), unit.reader().clone(), unit.now());
        usage::count(&reader, unit, share, record.node, before.length(), record.length()).await?;
        let content = |record: &PathRecord| record.file().map(|file| file.content.id);
        if content(record) != content(before) {
            return tree.replace(&reader, unit, slot, before, record).await;
        }
        tree.preserve(&reader, unit, slot, before, record, now).await?;
        tree.put(unit, slot, record);
        Ok(())
    }
}

impl<M: Mode> Unit<M> {
    /// Whether the share of this name is the one that was meant.
    pub(in crate::store) async fn has_share(
        &self,
        account: &str,
        name: &str,
        generation: Generation,
    ) -> Answer<bool> {
        let found = self.find_share_in(account, name).await?;
        Ok(found.is_some_and(|share| share.generation == generation))
    }

    /// The file that this copy is writing, in a share that is there or can be restored.
    pub(in crate::store) async fn copied_file(
        &self,
        account: &str,
        share: &str,
        generation: Generation,
        node: NodeId,
        copy: Uuid,
    ) -> Answer<Option<FileDestination>> {
        let Some(share) = self.share_or_deleted(account, share, generation).await? else { return Ok(None) };
        let Some(slot) = self.slot_of(node).await? else { return Ok(None) };
        let found = share.tree().look::<PathRecord>(self.reader(), &slot, None).await?;
        let is_own = |record: &PathRecord| {
            let own = record.file().and_then(|file| file.copy.as_ref());
            record.node == node && own.is_some_and(|own| own.id == copy && own.status == CopyStatus::Pending)
        };
        let found = found.filter(is_own);
        Ok(found.map(|record| FileDestination { share, slot, before: record.clone(), record }))
    }

    /// Where the record of a node stands now, if it does.
    async fn slot_of(&self, node: NodeId) -> Answer<Option<Slot>> {
        let Some(tag) = PathRecord::SPACE.place else { return Ok(None) };
        Ok(Some(match self.reader().get(tree::key::place(tag, node)).await? {
            Some(entry) => {
                let PlaceRecord { parent, folded } = PlaceRecord::decode(&entry.value)?;
                Slot { parent, folded }
            }
            // A file of several names has no place of its own.
            None => links::own_slot(node),
        }))
    }

    async fn share_or_deleted(
        &self,
        account: &str,
        name: &str,
        generation: Generation,
    ) -> Answer<Option<ShareRecord>> {
        let is_meant = |share: &ShareRecord| share.generation == generation;
        if let Some(share) = self.find_share_in(account, name).await?.filter(is_meant) {
            return Ok(Some(share));
        }
        let mut after = None;
        loop {
            let scan = Scan { after, ..Scan::of(key::deleted_shares_of(account, name)) };
            let page = self.reader().scan(scan).await?;
            for (at, entry) in &page.items {
                if DeletedShare::decode(&entry.value)?.share.generation != generation {
                    continue;
                }
                // As a check of the commit: a share that is restored or ended meanwhile is looked at again.
                let Some(entry) = self.reader().get(at.clone()).await? else { continue };
                return Ok(Some(DeletedShare::decode(&entry.value)?.share));
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(None);
            }
        }
    }
}

impl Present<ExistingPath> {
    /// Ends the copy that is writing the file. The file stays, without content.
    pub async fn abort_copy(self, id: Uuid) -> Answer<()> {
        let Self { mut unit, place, record: ExistingPath { record, .. }, .. } = self;
        place.writable()?;
        let pending = record.file().and_then(|file| file.copy.as_ref());
        let pending = pending.filter(|copy| copy.status == CopyStatus::Pending);
        if pending.ok_or(ErrorCode::NoPendingCopyOperation)?.id != id {
            return Err(ErrorCode::CopyIdMismatch.into());
        }
        let Standing::Entry(chain, slot) = place.at else { return Err(ErrorCode::ResourceNotFound.into()) };
        let before = chain.found.ok_or(ErrorCode::ResourceNotFound)?;
        let mut file = FileDestination { share: place.share, slot, before, record };
        let now = unit.now();
        file.empty(now);
        let at = file.touch(now);
        if let Some(copy) = file.copy_mut() {
            (copy.status, copy.completed) = (CopyStatus::Aborted, Some(at));
        }
        file.write(&mut unit).await?;
        unit.delete(copy_job(id));
        Ok(())
    }
}
