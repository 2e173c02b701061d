//! Chunks in memory: the reference for the extents on disk.

use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
};

use bytes::Bytes;
use parking_lot::Mutex;

use super::{ExtentStats, gone, out_of_range, pin::Pins};
use crate::{crc::crc64, error::EngineError, txn::ChunkId};

#[derive(Default)]
pub(super) struct MemoryExtents {
    state: Mutex<State>,
    pub pins: Pins,
}

#[derive(Default)]
struct State {
    next: u64,
    chunks: HashMap<ChunkId, Slot>,
    /// Released, but perhaps still read by the holder of a pin.
    doomed: VecDeque<(u64, ChunkId)>,
    live_bytes: u64,
}

struct Slot {
    payload: Bytes,
    stage: Stage,
}

/// How far a chunk is on its way from written to published.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Written,
    /// In the hands of the committer; `kept` is false once the guard was dropped.
    Claimed {
        kept: bool,
    },
    Published,
    Released,
}

impl MemoryExtents {
    pub fn write(&self, parts: &[Bytes]) -> (ChunkId, u64) {
        let payload = match parts {
            [one] => one.clone(),
            parts => parts.concat().into(),
        };
        let crc64 = crc64(&payload);
        let mut state = self.state.lock();
        state.next += 1;
        let id = ChunkId(u128::from(state.next) << 64);
        state.chunks.insert(id, Slot { payload, stage: Stage::Written });
        (id, crc64)
    }

    pub fn read(&self, id: ChunkId, range: Range<u32>) -> Result<Bytes, EngineError> {
        let state = self.state.lock();
        let slot = state.chunks.get(&id).ok_or_else(|| gone(id))?;
        let (start, end) = (range.start as usize, range.end as usize);
        if start > end || end > slot.payload.len() {
            return Err(out_of_range(id));
        }
        Ok(slot.payload.slice(start..end))
    }

    pub fn crc64(&self, id: ChunkId) -> Result<u64, EngineError> {
        let payload = self.state.lock().chunks.get(&id).ok_or_else(|| gone(id))?.payload.clone();
        Ok(crc64(&payload))
    }

    pub fn claim(&self, publish: &[ChunkId]) -> bool {
        let mut state = self.state.lock();
        let written = |id: &ChunkId| state.chunks.get(id).is_some_and(|slot| slot.stage == Stage::Written);
        if !publish.iter().all(written) {
            return false;
        }
        for id in publish {
            if let Some(slot) = state.chunks.get_mut(id) {
                slot.stage = Stage::Claimed { kept: true };
            }
        }
        true
    }

    pub fn committed(&self, publish: &[ChunkId], release: &[ChunkId]) {
        let mut state = self.state.lock();
        let state = &mut *state;
        for id in publish {
            if let Some(slot) = state.chunks.get_mut(id)
                && slot.stage != Stage::Published
            {
                slot.stage = Stage::Published;
                state.live_bytes += slot.payload.len() as u64;
            }
        }
        let mark = self.pins.retire();
        for id in release {
            if let Some(slot) = state.chunks.get_mut(id)
                && slot.stage == Stage::Published
            {
                slot.stage = Stage::Released;
                state.live_bytes = state.live_bytes.saturating_sub(slot.payload.len() as u64);
                state.doomed.push_back((mark, *id));
            }
        }
        while let Some(&(mark, id)) = state.doomed.front()
            && self.pins.passed(mark)
        {
            state.doomed.pop_front();
            state.chunks.remove(&id);
        }
    }

    pub fn aborted(&self, publish: &[ChunkId]) {
        let mut state = self.state.lock();
        for id in publish {
            match state.chunks.get_mut(id) {
                Some(slot) if slot.stage == (Stage::Claimed { kept: true }) => slot.stage = Stage::Written,
                Some(slot) if slot.stage == (Stage::Claimed { kept: false }) => {
                    state.chunks.remove(id);
                }
                _ => {}
            }
        }
    }

    /// The guard was dropped: unless it is published or on its way, no commit will ever want the chunk.
    pub fn abandon(&self, id: ChunkId) {
        let mut state = self.state.lock();
        match state.chunks.get_mut(&id) {
            Some(slot) if slot.stage == Stage::Written => {
                state.chunks.remove(&id);
            }
            Some(slot) if slot.stage == (Stage::Claimed { kept: true }) => {
                slot.stage = Stage::Claimed { kept: false };
            }
            _ => {}
        }
    }

    pub fn stats(&self) -> ExtentStats {
        let state = self.state.lock();
        let total = state.chunks.values().map(|slot| slot.payload.len() as u64).sum();
        ExtentStats { live_bytes: state.live_bytes, total_bytes: total, ..ExtentStats::default() }
    }
}
