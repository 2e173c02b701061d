//! What is where, and what of it is alive: the bookkeeping of the extents, without any I/O.
//!
//! An extent is open (a writer appends to it), sealed, draining (empty, but a pin may still read it), and
//! then free. It leaves `sealed` only when no row points into it, no unpublished chunk lies in it, and no
//! commit that touches it is under way: a commit that never became durable must find its bytes again.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{
    Lookup,
    file::ExtentFile,
    pin::Pins,
    record::{IdParts, Location, pages},
    rows::{ExtentRow, chunk_key, decode_chunk, encode_chunk, encode_extent, extent_key},
};
use crate::{
    error::{Corrupt, EngineError},
    txn::{ChunkId, Write},
};

#[derive(Default)]
pub(super) struct ExtentMap {
    pub extents: HashMap<u64, Extent>,
    pub writers: Vec<Writer>,
    pub free: Vec<Free>,
    /// The number of the next extent.
    pub next: u64,
    pending: HashMap<ChunkId, Pending>,
    draining: Vec<(u64, u64)>,
    /// Rows of extents that became empty outside of a commit; the next commit deletes them.
    stale_rows: Vec<u64>,
    /// Released chunks that had been moved: a pinned reader finds them here when their row is gone.
    moved_then_released: HashMap<ChunkId, (u64, Location)>,
}

/// Of a group whose rows are made and which is not yet durable: the extents it touches (once for each change),
/// and the chunks it releases. Given back with [`ExtentMap::committed`].
#[derive(Default)]
pub(crate) struct UnderWay {
    touched: Vec<u64>,
    releasing: Vec<(ChunkId, Location)>,
}

pub(super) struct Extent {
    pub file: Arc<ExtentFile>,
    pub row: ExtentRow,
    pub next_page: u32,
    pub pending: u32,
    pub state: State,
    /// Some live chunk of it cannot be read: it is kept, to be repaired.
    pub damaged: bool,
    /// Changes by groups that are not yet durable.
    committing: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Open,
    Sealed,
    Draining,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Writer {
    pub extent: Option<u64>,
    /// Writes under way: file systems serialise writes to one file, so the idlest writer is taken.
    pub writing: usize,
}

pub(super) struct Free {
    pub name: String,
    pub pages: u32,
}

struct Pending {
    location: Location,
    len: u32,
    writer: usize,
    /// Set when the write has ended.
    ticket: u64,
    stage: Stage,
    /// This is the collector's copy of a chunk that lay there.
    moves: Option<(ChunkId, Location)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Writing,
    Written,
    /// In the hands of the committer; `kept` is false once the guard was dropped.
    Claimed {
        kept: bool,
    },
}

/// Pages for one chunk.
pub(super) struct Reserved {
    pub id: ChunkId,
    pub location: Location,
    pub file: Arc<ExtentFile>,
}

impl Extent {
    pub fn new(file: Arc<ExtentFile>, row: ExtentRow, state: State) -> Self {
        let next_page = row.used.max(1);
        Self { file, row, next_page, pending: 0, state, damaged: false, committing: 0 }
    }

    /// Little enough is alive that copying it pays.
    fn collectable(&self) -> bool {
        self.state == State::Sealed
            && !self.damaged
            && self.pending == 0
            && u64::from(self.row.live_pages) * 2 < u64::from(self.row.pages)
    }
}

impl ExtentMap {
    pub fn new(writers: usize) -> Self {
        Self { writers: vec![Writer::default(); writers], ..Self::default() }
    }

    /// Takes pages in the idlest writer; an error names the writer that needs a new extent first.
    pub fn reserve(
        &mut self,
        len: u32,
        salt: u64,
        moves: Option<(ChunkId, Location)>,
    ) -> Result<Reserved, usize> {
        let writer = (0..self.writers.len()).min_by_key(|&writer| self.writers[writer].writing).unwrap_or(0);
        let number = self.writers.get(writer).and_then(|writer| writer.extent).ok_or(writer)?;
        let extent = self.extents.get_mut(&number).ok_or(writer)?;
        if u64::from(extent.next_page) + u64::from(pages(len)) > u64::from(extent.row.pages) {
            return Err(writer);
        }
        let location = Location { extent: number, page: extent.next_page };
        extent.next_page += pages(len);
        extent.pending += 1;
        let file = extent.file.clone();
        self.writers[writer].writing += 1;
        let id = IdParts { home: location, len, salt }.pack();
        let pending = Pending { location, len, writer, ticket: 0, stage: Stage::Writing, moves };
        self.pending.insert(id, pending);
        Ok(Reserved { id, location, file })
    }

    /// The write into reserved pages has ended.
    pub fn finish(&mut self, id: ChunkId, written: bool, pins: &Pins) {
        let Some(pending) = self.pending.get_mut(&id) else { return };
        self.writers[pending.writer].writing -= 1;
        pending.stage = Stage::Written;
        if let Some(extent) = self.extents.get(&pending.location.extent) {
            pending.ticket = extent.file.wrote();
        }
        if !written {
            self.abandon(id, pins);
        }
    }

    /// The guard is gone: unless the chunk is published or on its way, no commit will ever want it.
    pub fn abandon(&mut self, id: ChunkId, pins: &Pins) {
        match self.pending.get_mut(&id) {
            Some(pending) if pending.stage == (Stage::Claimed { kept: true }) => {
                pending.stage = Stage::Claimed { kept: false };
            }
            Some(pending) if pending.stage == Stage::Written => {
                let number = pending.location.extent;
                self.pending.remove(&id);
                if let Some(extent) = self.extents.get_mut(&number) {
                    extent.pending -= 1;
                }
                self.settle(number, pins);
            }
            _ => {}
        }
    }

    /// The files and tickets to sync so that these chunks are durable, those of one file together.
    pub fn unsynced(&self, chunks: &[ChunkId]) -> Vec<(Arc<ExtentFile>, u64)> {
        let mut files: BTreeMap<u64, (Arc<ExtentFile>, u64)> = BTreeMap::new();
        for pending in chunks.iter().filter_map(|id| self.pending.get(id)) {
            let Some(extent) = self.extents.get(&pending.location.extent) else { continue };
            if !extent.file.is_synced(pending.ticket) {
                let entry = files.entry(pending.location.extent).or_insert_with(|| (extent.file.clone(), 0));
                entry.1 = entry.1.max(pending.ticket);
            }
        }
        files.into_values().collect()
    }

    /// Files that no writer writes to and that are not synced, with the tickets of their last writes.
    pub fn left_unsynced(&self) -> Vec<(Arc<ExtentFile>, u64)> {
        let left = self.extents.values().filter(|extent| extent.state != State::Open);
        left.filter_map(|extent| Some((extent.file.clone(), extent.file.unsynced()?))).collect()
    }

    pub fn claim(&mut self, publish: &[ChunkId]) -> bool {
        for (index, id) in publish.iter().enumerate() {
            match self.pending.get_mut(id) {
                Some(pending) if pending.stage == Stage::Written => {
                    pending.stage = Stage::Claimed { kept: true };
                }
                _ => {
                    for id in &publish[..index] {
                        if let Some(pending) = self.pending.get_mut(id) {
                            pending.stage = Stage::Written;
                        }
                    }
                    return false;
                }
            }
        }
        true
    }

    pub fn aborted(&mut self, publish: &[ChunkId], pins: &Pins) {
        for id in publish {
            if let Some(pending) = self.pending.get_mut(id)
                && let Stage::Claimed { kept } = pending.stage
            {
                pending.stage = Stage::Written;
                if !kept {
                    self.abandon(*id, pins);
                }
            }
        }
    }

    /// The rows of a group, and the live counts with them. An error leaves everything as it was; what is
    /// done is not taken back: when the batch then fails, the engine stops.
    pub fn rows(
        &mut self,
        publish: &[ChunkId],
        release: &[ChunkId],
        lookup: Lookup<'_>,
    ) -> Result<(Vec<Write>, UnderWay), EngineError> {
        // Where each chunk is after this group, when the group changes it.
        let mut moved: BTreeMap<ChunkId, Option<Location>> = BTreeMap::new();
        let find = |moved: &BTreeMap<ChunkId, Option<Location>>, id: ChunkId| match moved.get(&id) {
            Some(&location) => Ok(location),
            None => lookup(&chunk_key(id))?.map(|value| decode_chunk(&value)).transpose(),
        };
        let mut under_way = UnderWay::default();
        let (mut added, mut subtracted) = (Vec::new(), Vec::new());
        for id in publish {
            let pending = self.pending.get(id).ok_or_else(|| unclaimed(*id))?;
            let (location, len) = (pending.location, pending.len);
            match pending.moves {
                None => {
                    added.push((location, len));
                    moved.insert(*id, Some(location));
                }
                Some((original, from)) if find(&moved, original)? == Some(from) => {
                    subtracted.push((from, len));
                    added.push((location, len));
                    moved.insert(original, Some(location));
                }
                // Released since it was copied.
                Some(_) => {}
            }
        }
        for &id in release {
            match find(&moved, id)? {
                Some(location) => {
                    subtracted.push((location, IdParts::unpack(id).len));
                    under_way.releasing.push((id, location));
                    moved.insert(id, None);
                }
                // A sweep that was cut short releases again what it had released; ids are never used again.
                None => tracing::debug!(chunk = format!("{:032x}", id.0), "released chunk has no row"),
            }
        }
        added.into_iter().for_each(|(location, len)| self.add(location, len, &mut under_way));
        subtracted.into_iter().for_each(|(location, len)| self.subtract(location, len, &mut under_way));
        let mut writes = Vec::new();
        for (id, location) in moved {
            writes.push(match location {
                Some(location) => Write::Put(chunk_key(id), encode_chunk(location)),
                None => Write::Delete(chunk_key(id)),
            });
        }
        for number in std::mem::take(&mut self.stale_rows) {
            writes.push(Write::Delete(extent_key(number)));
        }
        under_way.touched.sort_unstable();
        for number in under_way.touched.chunk_by(u64::eq).filter_map(<[u64]>::first) {
            if let Some(extent) = self.extents.get(number) {
                writes.push(Write::Put(extent_key(*number), encode_extent(extent.row)));
            }
        }
        Ok((writes, under_way))
    }

    /// The batch is durable.
    pub fn committed(&mut self, publish: &[ChunkId], under_way: UnderWay, pins: &Pins) {
        let mark = pins.retire();
        for id in publish {
            if let Some(pending) = self.pending.remove(id)
                && let Some(extent) = self.extents.get_mut(&pending.location.extent)
            {
                extent.pending -= 1;
            }
        }
        for (id, location) in under_way.releasing {
            if IdParts::unpack(id).home != location && !pins.passed(mark) {
                self.moved_then_released.insert(id, (mark, location));
            }
        }
        for number in under_way.touched {
            if let Some(extent) = self.extents.get_mut(&number) {
                extent.committing -= 1;
            }
            self.settle(number, pins);
        }
    }

    /// A writer goes on in a new extent.
    pub fn install(&mut self, writer: usize, extent: Extent, pins: &Pins) {
        let number = extent.file.number;
        self.extents.insert(number, extent);
        if let Some(old) = self.writers[writer].extent.replace(number) {
            self.seal(old, pins);
        }
    }

    fn seal(&mut self, number: u64, pins: &Pins) {
        if let Some(extent) = self.extents.get_mut(&number) {
            extent.state = State::Sealed;
        }
        self.settle(number, pins);
    }

    /// Lets an empty extent go.
    fn settle(&mut self, number: u64, pins: &Pins) {
        let Some(extent) = self.extents.get_mut(&number) else { return };
        let empty = extent.row.live_chunks == 0 && extent.pending == 0 && extent.committing == 0;
        if extent.state == State::Sealed && empty && !extent.damaged {
            extent.state = State::Draining;
            self.draining.push((pins.retire(), number));
            self.stale_rows.push(number);
        }
    }

    /// Draining extents that no pin can be reading any more become free.
    pub fn reclaim(&mut self, pins: &Pins) {
        let Self { extents, draining, free, .. } = self;
        draining.retain(|&(mark, number)| {
            if !pins.passed(mark) {
                return true;
            }
            if let Some(extent) = extents.remove(&number) {
                free.push(Free { name: extent.file.name.clone(), pages: extent.row.pages });
            }
            false
        });
        self.moved_then_released.retain(|_, (mark, _)| !pins.passed(*mark));
    }

    pub fn has_draining(&self) -> bool {
        !self.draining.is_empty()
    }

    /// The emptiest extent that is worth collecting.
    pub fn victim(&self) -> Option<u64> {
        let collectable = self.extents.iter().filter(|(_, extent)| extent.collectable());
        let share =
            |extent: &Extent| (u64::from(extent.row.live_pages) << 32) / u64::from(extent.row.pages.max(1));
        collectable.min_by_key(|(number, extent)| (share(extent), **number)).map(|(number, _)| *number)
    }

    pub fn moved_then_released(&self, id: ChunkId) -> Option<Location> {
        self.moved_then_released.get(&id).map(|(_, location)| *location)
    }

    pub fn pending_chunks(&self) -> usize {
        self.pending.len()
    }

    /// An extent whose row says that it is empty: free at once, the row goes with the next commit.
    pub fn forget_row(&mut self, number: u64) {
        self.stale_rows.push(number);
    }

    fn touch(&mut self, number: u64, under_way: &mut UnderWay) {
        if let Some(extent) = self.extents.get_mut(&number) {
            extent.committing += 1;
            under_way.touched.push(number);
        }
    }

    fn add(&mut self, location: Location, len: u32, under_way: &mut UnderWay) {
        self.touch(location.extent, under_way);
        if let Some(extent) = self.extents.get_mut(&location.extent) {
            extent.row.live_pages += pages(len);
            extent.row.live_chunks += 1;
            extent.row.used = extent.row.used.max(location.page + pages(len));
        }
    }

    fn subtract(&mut self, location: Location, len: u32, under_way: &mut UnderWay) {
        self.touch(location.extent, under_way);
        let Some(extent) = self.extents.get_mut(&location.extent) else {
            tracing::error!(extent = location.extent, "a chunk's row names an extent that has none");
            return;
        };
        let row = &mut extent.row;
        match (row.live_pages.checked_sub(pages(len)), row.live_chunks.checked_sub(1)) {
            (Some(live_pages), Some(live_chunks)) => {
                row.live_pages = live_pages;
                row.live_chunks = live_chunks;
            }
            _ => {
                // Never recycled then: bytes may still be reachable that the count does not know of.
                extent.damaged = true;
                tracing::error!(extent = location.extent, "live count does not cover the extent's chunks");
            }
        }
    }
}

fn unclaimed(id: ChunkId) -> EngineError {
    EngineError::Corrupt(Corrupt(format!("chunk {:032x} is published without being claimed", id.0)))
}
