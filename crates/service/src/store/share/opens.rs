//! What SMB clients have open: rows beside the file. Operations over REST read them as checks of their commits, and so
//! does every open; so nothing comes between the judgement and the grant, on whichever server either is.

use lazuli_engine::{KeyRange, Plan, Reader, Scan, Value};
use lazuli_model::admission::lease;
use lazuli_model::admission::sharing::{self, ByteRangeLock};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Mode;

use super::key;
use super::path::{PathPlace, Standing};
use crate::fault::{Answer, Fault};
use crate::store::found::{Found, Present};
use crate::store::key::Generation;
use crate::store::members;
use crate::store::record::Record;
use crate::store::record::open::{OpenRecord, OpensRecord};
use crate::store::record::path::{ExistingPath, PathRecord};
use crate::store::record::place::PlaceRecord;
use crate::store::record::share::ShareRecord;
use crate::store::tree::{self, Entry as _, NodeId, Slot, Tree};
use crate::store::unit::{Changes, Unit};
use crate::store::upkeep::Work;

/// Opens of one file or directory, and of the root.
const OPENS: u32 = 2_000;
const OPENS_OF_ROOT: u32 = 10_000;

/// What an SMB client opens, and how. The rest of the record is what the file is.
pub type NewOpen = OpenRecord;

impl<M: Mode> Unit<M> {
    /// The opens of a node, by their handles, and whether its deletion is pending. The row that stands for all of them is
    /// the check of the commit.
    pub(in crate::store) async fn opens_of(
        &self,
        generation: Generation,
        node: NodeId,
    ) -> Answer<(Vec<(u64, OpenRecord)>, bool)> {
        let Some(all) = self.reader().get(key::opens(generation, node)).await? else {
            return Ok((Vec::new(), false));
        };
        let all = OpensRecord::decode(&all.value)?;
        let (mut opens, mut after) = (Vec::new(), None);
        loop {
            let scan = Scan { after, ..Scan::of(key::opens_of(generation, node)) };
            let page = self.reader().scan(scan).await?;
            for (key, entry) in &page.items {
                if let Some((.., handle)) = key::open_of(key) {
                    opens.push((handle, OpenRecord::decode(&entry.value)?));
                }
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok((opens, all.delete_pending));
            }
        }
    }

    async fn all_opens(&self, generation: Generation, node: NodeId) -> Answer<OpensRecord> {
        Ok(match self.reader().get(key::opens(generation, node)).await? {
            Some(entry) => OpensRecord::decode(&entry.value)?,
            None => OpensRecord::default(),
        })
    }
}

impl Present<ExistingPath> {
    /// Opens what was found, if every other open and the lease agree; tells the handle.
    pub async fn open(self, new: &NewOpen) -> Answer<u64> {
        let Self { mut unit, place, record: ExistingPath { record, opens, .. }, .. } = self;
        place.writable()?;
        let is_leased =
            record.file().is_some_and(|file| lease::state(file.lease.as_ref(), unit.now()).is_locked());
        sharing::check_open(&new.open, &opens, is_leased)?;
        let (generation, node) = (place.share.generation, record.node);
        let mut all = unit.all_opens(generation, node).await?;
        let limit = if matches!(place.at, Standing::Root) { OPENS_OF_ROOT } else { OPENS };
        if all.count >= limit {
            return Err(ErrorCode::HandleLimitExceeded.into());
        }
        all.count += 1;
        let handle: u64 = rand::random();
        let record =
            OpenRecord { account: unit.account().to_owned(), share: place.share_name.clone(), ..new.clone() };
        unit.put(key::open(generation, node, handle), record.encode());
        write_opens(&mut unit, generation, node, all);
        Ok(handle)
    }
}

/// A file or directory of which the opens are attended to: closed, changed. They are no part of its record, and what
/// guards that does not guard them.
pub struct Attended {
    unit: Unit,
    place: PathPlace,
    record: PathRecord,
}

impl Found<ExistingPath> {
    /// For those who have it open.
    pub fn attend(self) -> Result<Attended, Failure> {
        let (unit, place, existing) = self.into_parts();
        place.writable()?;
        let record = existing.ok_or(ErrorCode::ResourceNotFound)?.record;
        Ok(Attended { unit, place, record })
    }
}

impl Attended {
    fn node(&self) -> (Generation, NodeId) {
        (self.place.share.generation, self.record.node)
    }

    /// Closes one of the opens; the last one to go takes a file with it whose deletion is pending. False where there is no
    /// such open.
    pub async fn close(mut self, handle: u64) -> Answer<bool> {
        let (reader, tree) = (self.unit.reader().clone(), self.place.tree());
        close(&reader, &mut self.unit, &tree, self.record.node, handle).await
    }

    /// Changes what an open has locked and what its client keeps. False where there is no such open.
    pub async fn change_open(mut self, handle: u64, change: impl FnOnce(&mut OpenRecord)) -> Answer<bool> {
        let (generation, node) = self.node();
        let at = key::open(generation, node, handle);
        let Some(entry) = self.unit.reader().get(at.clone()).await? else { return Ok(false) };
        let mut open = OpenRecord::decode(&entry.value)?;
        change(&mut open);
        let all = self.unit.all_opens(generation, node).await?;
        self.unit.put(at, open.encode());
        write_opens(&mut self.unit, generation, node, all);
        Ok(true)
    }

    /// Locks a range for one of the opens, unless another one's lock stands against it.
    pub async fn lock(self, handle: u64, lock: ByteRangeLock) -> Answer<bool> {
        let (generation, node) = self.node();
        let (opens, _) = self.unit.opens_of(generation, node).await?;
        let meets = |other: &ByteRangeLock| {
            other.range.start < lock.range.end
                && lock.range.start < other.range.end
                && (other.exclusive || lock.exclusive)
        };
        let others = opens.iter().filter(|(other, _)| *other != handle);
        if others.flat_map(|(_, open)| &open.open.locks).any(meets) {
            return Err(ErrorCode::FileLockConflict.into());
        }
        self.change_open(handle, |open| open.open.locks.push(lock)).await
    }

    /// Says that the file goes when it is closed, or that it stays. It must be open.
    pub async fn set_delete_pending(mut self, pending: bool) -> Answer<()> {
        let (generation, node) = self.node();
        let all = self.unit.all_opens(generation, node).await?;
        if all.count == 0 {
            return Err(ErrorCode::InvalidInput.into());
        }
        if pending && self.record.is_directory() {
            let Standing::Entry(_, slot) = &self.place.at else {
                return Err(ErrorCode::CannotDeleteFileOrDirectory.into());
            };
            let tree = self.place.tree();
            if !tree.is_empty(self.unit.reader(), slot, &self.record).await? {
                return Err(ErrorCode::DirectoryNotEmpty.into());
            }
        }
        write_opens(&mut self.unit, generation, node, OpensRecord { delete_pending: pending, ..all });
        Ok(())
    }
}

impl<M: Mode> Present<ExistingPath, M> {
    /// The opens of a directory and of all that stands below it, wherever it has been moved since: behind this place in
    /// the order of the rows, up to so many rows of the share. The place where to go on, if there are more.
    pub async fn handles_below(
        &self,
        after: Option<(NodeId, u64)>,
        limit: usize,
    ) -> Answer<(Vec<(NodeId, u64, OpenRecord)>, Option<(NodeId, u64)>)> {
        if self.place.snapshot.is_some() {
            return Ok((Vec::new(), None));
        }
        let (reader, tree) = (self.unit.reader(), self.place.tree());
        let Some(own) = tree.path_of::<PathRecord>(reader, self.record.record.node).await? else {
            return Ok((Vec::new(), None));
        };
        let after = after.map(|(node, handle)| key::open(tree.generation, node, handle));
        let range = KeyRange::prefix(key::all_opens(tree.generation));
        let page = reader.scan(Scan { after, limit, ..Scan::of(range) }).await?;
        let (mut handles, mut last) = (Vec::new(), None);
        for (at, entry) in &page.items {
            let Some((_, node, handle)) = key::open_of(at) else { continue };
            last = Some((node, handle));
            let path = tree.path_of::<PathRecord>(reader, node).await?;
            if path.is_some_and(|path| path.starts_with(&own)) {
                handles.push((node, handle, OpenRecord::decode(&entry.value)?));
            }
        }
        Ok((handles, last.filter(|_| page.more)))
    }

    /// The opens of a file or directory, by their handles.
    pub async fn handles(&self) -> Answer<Vec<(u64, OpenRecord)>> {
        if self.place.snapshot.is_some() {
            return Ok(Vec::new());
        }
        let (generation, node) = (self.place.share.generation, self.record.record.node);
        Ok(self.unit.opens_of(generation, node).await?.0)
    }
}

impl Unit {
    /// Closes an open by what it is an open of, wherever that stands now, and whether it still does.
    pub async fn close_open(&mut self, share: &str, node: NodeId, handle: u64) -> Answer<bool> {
        let tree = self.share_of(share, None).await?.tree();
        let reader = self.reader().clone();
        close(&reader, self, &tree, node, handle).await
    }
}

fn write_opens<W: Changes>(changes: &mut W, generation: Generation, node: NodeId, all: OpensRecord) {
    let at = key::opens(generation, node);
    match all.count {
        0 => changes.delete(at),
        _ => changes.put(at, OpensRecord { changes: all.changes + 1, ..all }.encode()),
    }
    match all.delete_pending && all.count > 0 {
        true => changes.put(key::pending(generation, node), Value::new()),
        false => changes.delete(key::pending(generation, node)),
    }
}

/// Closes one of the opens of a node: what was to go then goes, a directory only if it is empty.
async fn close<W: Changes>(
    reader: &Reader,
    changes: &mut W,
    tree: &Tree,
    node: NodeId,
    handle: u64,
) -> Answer<bool> {
    let at = key::open(tree.generation, node, handle);
    let (Some(all), Some(open)) =
        (reader.get(key::opens(tree.generation, node)).await?, reader.get(at.clone()).await?)
    else {
        return Ok(false);
    };
    let mut all = OpensRecord::decode(&all.value)?;
    all.delete_pending |= OpenRecord::decode(&open.value)?.delete_on_close;
    all.count = all.count.saturating_sub(1);
    changes.delete(at);
    write_opens(changes, tree.generation, node, all);
    if all.count > 0 || !all.delete_pending {
        return Ok(true);
    }
    let Some(tag) = PathRecord::SPACE.place else { return Ok(true) };
    let Some(place) = reader.get(tree::key::place(tag, node)).await? else { return Ok(true) };
    let PlaceRecord { parent, folded } = PlaceRecord::decode(&place.value)?;
    let slot = Slot { parent, folded };
    let Some(found) = tree.look::<PathRecord>(reader, &slot, None).await? else { return Ok(true) };
    if !found.is_directory() || tree.is_empty(reader, &slot, &found).await? {
        tree.unlink(reader, changes, &slot, &found).await?;
    }
    Ok(true)
}

/// Ends the opens of servers that are dead; tells how many.
pub(in crate::store) async fn end_lost(work: &Work) -> Answer<usize> {
    let (mut ended, mut after) = (0, None);
    loop {
        let reader = work.engine().reader().await?;
        let page = reader.scan(Scan { after, ..Scan::of(key::every_open()) }).await?;
        let mut lost = Vec::new();
        for (at, entry) in &page.items {
            let Some((generation, node, handle)) = key::open_of(at) else { continue };
            let open = OpenRecord::decode(&entry.value)?;
            if members::is_dead(work, &reader, open.server).await? {
                lost.push((generation, node, handle, key::share(&open.account, &open.share)));
            }
        }
        drop(reader);
        after = page.items.last().map(|(key, _)| key.clone());
        for (generation, node, handle, share) in &lost {
            let is_ended = work
                .run(|reader| async move {
                    let mut plan = Plan::new(false);
                    // Of a share that is gone the sweeper deletes all rows.
                    if let Some(entry) = reader.get(share.clone()).await? {
                        let tree = ShareRecord::decode(&entry.value)?.tree();
                        if tree.generation == *generation {
                            plan.output = close(&reader, &mut plan, &tree, *node, *handle).await?;
                        }
                    }
                    Ok::<_, Fault>(plan)
                })
                .await?;
            ended += usize::from(is_ended);
        }
        if !page.more {
            return Ok(ended);
        }
    }
}
