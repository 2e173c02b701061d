//! What SMB clients have open: rows beside the file. Operations over REST read them as checks of their commits, and so
//! does every open; so nothing comes between the judgement and the grant, on whichever server either is.

use lazuli_engine::{Plan, Reader, Scan, Value};
use lazuli_model::admission::caching::{Act, Actor, breaks_of};
use lazuli_model::admission::sharing::{self, ByteRangeLock};
use lazuli_model::admission::{lease, locks};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Mode;

use super::path::{PathPlace, Standing};
use super::{changed, key, usage};
use crate::fault::{Answer, Fault};
use crate::open_file::ChangeAction;
use crate::store::desk::{DeskNotes, Node};
use crate::store::found::{Found, Present};
use crate::store::key::{Generation, Incarnation};
use crate::store::members;
use crate::store::record::Record;
use crate::store::record::open::{OpenRecord, OpensRecord};
use crate::store::record::path::{ExistingPath, PathRecord};
use crate::store::record::place::PlaceRecord;
use crate::store::record::share::ShareRecord;
use crate::store::tree::{self, Entry as _, NodeId, Slot};
use crate::store::unit::{Changes, Unit};
use crate::store::upkeep::Work;

/// Opens of one file or directory, and of the root.
pub(super) const OPENS: u32 = 2_000;
pub(super) const OPENS_OF_ROOT: u32 = 10_000;

/// What an SMB client opens, and how. The rest of the record is what the file is.
pub type NewOpen = OpenRecord;

impl<M: Mode> Unit<M> {
    /// The opens of a node, by their handles, and the row that stands for all of them: that is the check of the commit.
    pub(in crate::store) async fn opens_of(
        &self,
        generation: Generation,
        node: NodeId,
    ) -> Answer<(Vec<(u64, OpenRecord)>, OpensRecord)> {
        let Some(all) = self.reader().get(key::opens(generation, node)).await? else {
            return Ok((Vec::new(), OpensRecord::default()));
        };
        let all = OpensRecord::decode(&all.value)?;
        let (mut opens, mut after) = (Vec::new(), None);
        loop {
            let scan = Scan { after, ..Scan::of(key::opens_of(generation, node)) };
            let page = self.reader().scan(scan).await?;
            for (key, entry) in &page.items {
                let Some((.., handle)) = key::open_of(key) else { continue };
                let mut open = OpenRecord::decode(&entry.value)?;
                open.open.handle = handle;
                if !open.is_over(self.now()) {
                    opens.push((handle, open));
                }
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok((opens, all));
            }
        }
    }

    pub(super) async fn all_opens(&self, generation: Generation, node: NodeId) -> Answer<OpensRecord> {
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
        // 0 stands before every handle.
        let handle = rand::random::<u64>().max(1);
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
    /// To attend to its opens.
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
        close_in(&mut self.unit, &self.place.share, self.record.node, handle).await
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
        self.unit.tell_of_opens(open.server, (generation, node));
        Ok(true)
    }

    /// Locks a range for one of the opens, unless another one's lock stands against it.
    pub async fn lock(self, handle: u64, lock: ByteRangeLock) -> Answer<bool> {
        let (generation, node) = self.node();
        let (opens, _) = self.unit.opens_of(generation, node).await?;
        let opens: Vec<sharing::Open> = opens.into_iter().map(|(_, open)| open.open).collect();
        if !locks::may_lock(&lock, handle, &opens) {
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

impl Unit {
    /// Closes an open by what it is an open of, wherever that stands now, and whether it still does.
    pub async fn close_open(&mut self, share: &str, node: NodeId, handle: u64) -> Answer<bool> {
        let share = self.share_of(share, None).await?;
        close_in(self, &share, node, handle).await
    }
}

/// Closes an open, and notes what its own client, the tasks that wait and the watches are told.
pub(super) async fn close_in(
    unit: &mut Unit,
    share: &ShareRecord,
    node: NodeId,
    handle: u64,
) -> Answer<bool> {
    let reader = unit.reader().clone();
    let Some(closed) = close(&reader, unit, share, node, handle).await? else { return Ok(false) };
    if closed.others.delete_pending && closed.others.count > 0 {
        break_handles(unit, (share.generation, node), handle, closed.others).await?;
    }
    unit.tell_of_opens(closed.server, (share.generation, node));
    unit.notes().desk.wakes.push((share.generation, node));
    if let Some((parent, gone)) = closed.gone {
        let filter = changed::name_filter(&gone);
        unit.note_change(&share.tree(), parent, &gone.name, ChangeAction::Removed, filter).await?;
    }
    Ok(true)
}

/// The file goes with its last open: clients whose applications may have closed it are told to do so too.
async fn break_handles(unit: &mut Unit, node: Node, closed: u64, others: OpensRecord) -> Answer<()> {
    let mut rows = unit.open_rows(node).await?;
    rows.rows.retain(|(handle, _)| *handle != closed);
    rows.all = others;
    let breaks = breaks_of(Act::Move, Actor::default(), &rows.opens(), unit.now());
    if let Some(handle) = rows.apply(&breaks, unit.now()).disconnected {
        rows.give_up(handle);
    }
    rows.write(unit);
    Ok(())
}

/// The row that stands for all opens, as it is then.
pub(super) fn write_opens<W: Changes>(
    changes: &mut W,
    generation: Generation,
    node: NodeId,
    all: OpensRecord,
) -> OpensRecord {
    let at = key::opens(generation, node);
    let all = OpensRecord { changes: all.changes + 1, ..all };
    match all.count {
        0 => changes.delete(at),
        _ => changes.put(at, all.encode()),
    }
    match all.delete_pending && all.count > 0 {
        true => changes.put(key::pending(generation, node), Value::new()),
        false => changes.delete(key::pending(generation, node)),
    }
    all
}

/// What is gone with an open.
struct Closed {
    /// Whose client had it.
    server: Incarnation,
    /// What stands for the opens that are left.
    others: OpensRecord,
    /// The file, and the directory that it stood in.
    gone: Option<(NodeId, PathRecord)>,
}

/// Closes one of the opens of a node: what was to go then goes, a directory only if it is empty.
async fn close<W: Changes>(
    reader: &Reader,
    changes: &mut W,
    share: &ShareRecord,
    node: NodeId,
    handle: u64,
) -> Answer<Option<Closed>> {
    let tree = share.tree();
    let at = key::open(tree.generation, node, handle);
    let (Some(all), Some(open)) =
        (reader.get(key::opens(tree.generation, node)).await?, reader.get(at.clone()).await?)
    else {
        return Ok(None);
    };
    let mut all = OpensRecord::decode(&all.value)?;
    let open = OpenRecord::decode(&open.value)?;
    all.delete_pending |= open.delete_on_close;
    all.count = all.count.saturating_sub(1);
    changes.delete(at);
    if open.durable.is_some() {
        changes.delete(key::durable(tree.generation, handle));
    }
    let others = write_opens(changes, tree.generation, node, all);
    let mut closed = Closed { server: open.server, others, gone: None };
    if all.count > 0 || !all.delete_pending {
        return Ok(Some(closed));
    }
    let Some(tag) = PathRecord::SPACE.place else { return Ok(Some(closed)) };
    let Some(place) = reader.get(tree::key::place(tag, node)).await? else { return Ok(Some(closed)) };
    let PlaceRecord { parent, folded } = PlaceRecord::decode(&place.value)?;
    let slot = Slot { parent, folded };
    let Some(found) = tree.look::<PathRecord>(reader, &slot, None).await? else { return Ok(Some(closed)) };
    if !found.is_directory() || tree.is_empty(reader, &slot, &found).await? {
        usage::count(reader, changes, share, node, found.length(), 0).await?;
        tree.unlink(reader, changes, &slot, &found).await?;
        closed.gone = Some((slot.parent, found));
    }
    Ok(Some(closed))
}

/// Whether the sweeper is to close it: its client has not come back in time, or its server is dead.
async fn is_lost(work: &Work, reader: &Reader, open: &OpenRecord) -> Answer<bool> {
    Ok(open.is_over(crate::store::now(reader)) || members::is_dead(work, reader, open.server).await?)
}

/// Ends the opens of servers that are dead, and those whose client has not come back in time; tells how many.
pub(in crate::store) async fn end_lost(work: &Work) -> Answer<usize> {
    let (mut ended, mut after) = (0, None);
    loop {
        let reader = work.engine().reader().await?;
        let page = reader.scan(Scan { after, ..Scan::of(key::every_open()) }).await?;
        let mut lost = Vec::new();
        for (at, entry) in &page.items {
            let Some((generation, node, handle)) = key::open_of(at) else { continue };
            let open = OpenRecord::decode(&entry.value)?;
            if is_lost(work, &reader, &open).await? {
                lost.push((generation, node, handle, key::share(&open.account, &open.share)));
            }
        }
        drop(reader);
        after = page.items.last().map(|(key, _)| key.clone());
        for (generation, node, handle, share) in &lost {
            let is_ended = work
                .run(|reader| async move {
                    let mut plan = Plan::new(false);
                    // Its client may have come back since the list was read.
                    let Some(entry) = reader.get(key::open(*generation, *node, *handle)).await? else {
                        return Ok(plan);
                    };
                    if !is_lost(work, &reader, &OpenRecord::decode(&entry.value)?).await? {
                        return Ok(plan);
                    }
                    // Of a share that is gone the sweeper deletes all rows.
                    if let Some(entry) = reader.get(share.clone()).await? {
                        let share = ShareRecord::decode(&entry.value)?;
                        if share.generation == *generation {
                            plan.output = close(&reader, &mut plan, &share, *node, *handle).await?.is_some();
                        }
                    }
                    Ok::<_, Fault>(plan)
                })
                .await?;
            ended += usize::from(is_ended);
            work.tell_desk(DeskNotes { looks: vec![(*generation, *node)], ..DeskNotes::default() });
        }
        if !page.more {
            return Ok(ended);
        }
    }
}

/// Takes away letters for servers that are dead.
pub(in crate::store) async fn end_letters(work: &Work) -> Answer<usize> {
    let (mut ended, mut after) = (0, None);
    loop {
        let reader = work.engine().reader().await?;
        let page = reader.scan(Scan { after, keys_only: true, ..Scan::of(key::all_letters()) }).await?;
        let mut lost = Vec::new();
        for (at, _) in &page.items {
            let Some(server) = key::letter_for(at) else { continue };
            if members::is_dead(work, &reader, server).await? {
                lost.push(at.clone());
            }
        }
        drop(reader);
        after = page.items.last().map(|(key, _)| key.clone());
        ended += lost.len();
        if !lost.is_empty() {
            let lost = &lost;
            work.run(|_| async move {
                let mut plan = Plan::new(());
                lost.iter().for_each(|key| plan.delete(key.clone()));
                Ok::<_, Fault>(plan)
            })
            .await?;
        }
        if !page.more {
            return Ok(ended);
        }
    }
}
