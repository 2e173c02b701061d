//! Whole chunks in memory: fetched once however many ask, kept while there is room.
//!
//! What is being fetched or read stays. What a download announced stays too, unless it was not read for a while: a client
//! that stalls keeps no memory from the others. When there is no room, the caller reads a range instead.

use crate::error::EngineError;
use crate::record::Header;
use crate::txn::ChunkId;
use bytes::Bytes;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What was announced and not read for so long may go.
const STALLED: Duration = Duration::from_secs(5);

pub(super) struct Cache {
    limit: usize,
    state: Mutex<State>,
    began: Instant,
    pub hits: AtomicU64,
    pub misses: AtomicU64,
}

#[derive(Default)]
struct State {
    slots: HashMap<ChunkId, Arc<Slot>, RandomState>,
    /// The chunks in memory, in the order in which `make_room` looks at them.
    eviction: VecDeque<ChunkId>,
    bytes: usize,
}

pub(super) struct Slot {
    cost: usize,
    chunk: watch::Sender<Chunk>,
    /// How many downloads have announced that they will read it.
    announced: AtomicUsize,
    /// Milliseconds since the cache was made.
    used_at: AtomicU64,
    used: AtomicBool,
}

#[derive(Clone)]
pub(super) enum Chunk {
    Loading,
    /// Verified.
    There {
        header: Arc<Header>,
        payload: Bytes,
    },
    Failed(EngineError),
}

/// While it lives, the chunk is not the first to go. An empty one stands for what is not kept in memory.
#[derive(Default)]
pub struct Announced(Weak<Slot>);

impl Drop for Announced {
    fn drop(&mut self) {
        if let Some(slot) = self.0.upgrade() {
            slot.announced.fetch_sub(1, Relaxed);
        }
    }
}

impl Slot {
    /// The chunk, when it has come.
    pub async fn chunk(&self) -> Result<(Arc<Header>, Bytes), EngineError> {
        let mut chunk = self.chunk.subscribe();
        let come = match chunk.wait_for(|chunk| !matches!(chunk, Chunk::Loading)).await {
            Ok(come) => come.clone(),
            Err(_) => Chunk::Loading,
        };
        match come {
            Chunk::There { header, payload } => Ok((header, payload)),
            Chunk::Failed(error) => Err(error),
            Chunk::Loading => Err(EngineError::Unavailable("the runtime is shutting down")),
        }
    }

    pub fn announce(self: Arc<Self>) -> Announced {
        self.announced.fetch_add(1, Relaxed);
        Announced(Arc::downgrade(&self))
    }
}

impl Cache {
    pub fn new(limit: usize) -> Self {
        let (hits, misses) = Default::default();
        Self { limit, state: Mutex::default(), began: Instant::now(), hits, misses }
    }

    pub fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// A chunk that is there or on its way.
    pub fn find(&self, id: ChunkId) -> Option<Arc<Slot>> {
        let slot = self.state.lock().slots.get(&id).cloned()?;
        self.mark_used(&slot);
        self.hits.fetch_add(1, Relaxed);
        Some(slot)
    }

    /// The same; if it is neither and there is room, the caller has it fetched: `fetch` is called with its place, which [`fetched`](Self::fetched) fills.
    pub fn find_or_fetch(
        &self,
        id: ChunkId,
        cost: usize,
        fetch: impl FnOnce(Arc<Slot>),
    ) -> Option<Arc<Slot>> {
        let slot = {
            let mut state = self.state.lock();
            if let Some(slot) = state.slots.get(&id).cloned() {
                self.mark_used(&slot);
                self.hits.fetch_add(1, Relaxed);
                return Some(slot);
            }
            self.misses.fetch_add(1, Relaxed);
            if !self.make_room(&mut state, cost) {
                return None;
            }
            let slot = Arc::new(Slot {
                cost,
                chunk: watch::Sender::new(Chunk::Loading),
                announced: AtomicUsize::new(0),
                used_at: AtomicU64::new(self.now()),
                used: AtomicBool::new(false),
            });
            state.slots.insert(id, slot.clone());
            state.eviction.push_back(id);
            state.bytes += cost;
            slot
        };
        fetch(slot.clone());
        Some(slot)
    }

    /// The fetch has ended. What failed is forgotten, but for those who wait for it.
    pub fn fetched(&self, id: ChunkId, slot: &Arc<Slot>, chunk: Chunk) {
        if matches!(chunk, Chunk::Failed(_)) {
            let mut state = self.state.lock();
            if state.slots.get(&id).is_some_and(|there| Arc::ptr_eq(there, slot)) {
                state.slots.remove(&id);
                state.eviction.retain(|other| *other != id);
                state.bytes -= slot.cost;
            }
        }
        slot.chunk.send_replace(chunk);
    }

    fn mark_used(&self, slot: &Slot) {
        slot.used.store(true, Relaxed);
        slot.used_at.store(self.now(), Relaxed);
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    fn make_room(&self, state: &mut State, cost: usize) -> bool {
        if cost > self.limit {
            return false;
        }
        // Each may be passed over once because it was used, and once because it is needed.
        let mut looks = 2 * state.eviction.len();
        while state.bytes + cost > self.limit {
            let Some(left) = looks.checked_sub(1) else { return false };
            looks = left;
            let Some(id) = state.eviction.pop_front() else { return false };
            let Some(slot) = state.slots.get(&id) else { continue };
            let idle = self.now().saturating_sub(slot.used_at.load(Relaxed));
            let announced = slot.announced.load(Relaxed) > 0 && idle < STALLED.as_millis() as u64;
            // The tasks that fetch or read it hold it as well.
            let busy = Arc::strong_count(slot) > 1;
            if busy || announced || slot.used.swap(false, Relaxed) {
                state.eviction.push_back(id);
            } else {
                state.bytes -= slot.cost;
                state.slots.remove(&id);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{decode_header, encode_header, running_crcs};

    fn there(id: ChunkId, bytes: &[u8]) -> Chunk {
        let payload = Bytes::copy_from_slice(bytes);
        let crcs = running_crcs(std::slice::from_ref(&payload));
        let header = decode_header(&encode_header(id, bytes.len() as u32, &crcs)).unwrap();
        Chunk::There { header: Arc::new(header), payload }
    }

    fn fill(cache: &Cache, n: u128) -> bool {
        let id = ChunkId(n);
        cache.find_or_fetch(id, 10, |slot| cache.fetched(id, &slot, there(id, b"bytes"))).is_some()
    }

    #[tokio::test]
    async fn a_chunk_is_fetched_once_and_given_to_all() {
        let cache = Cache::new(100);
        let id = ChunkId(1);
        let mut place = None;
        let first = cache.find_or_fetch(id, 10, |slot| place = Some(slot)).unwrap();
        let second = cache.find_or_fetch(id, 10, |_| panic!("fetched twice")).unwrap();
        cache.fetched(id, &place.take().unwrap(), there(id, b"bytes"));
        assert_eq!(first.chunk().await.unwrap().1, &b"bytes"[..]);
        assert_eq!(second.chunk().await.unwrap().1, &b"bytes"[..]);
    }

    #[tokio::test]
    async fn what_failed_is_fetched_again() {
        let cache = Cache::new(100);
        let id = ChunkId(1);
        let failed = Chunk::Failed(EngineError::Unavailable("no"));
        let slot = cache.find_or_fetch(id, 10, |slot| cache.fetched(id, &slot, failed)).unwrap();
        assert!(slot.chunk().await.is_err());
        assert_eq!(cache.bytes(), 0);
        assert!(fill(&cache, 1));
        assert!(cache.find(id).unwrap().chunk().await.is_ok());
    }

    #[test]
    fn it_stays_within_its_limit_and_keeps_what_is_used_and_needed() {
        let cache = Cache::new(50);
        for n in 0..5 {
            assert!(fill(&cache, n));
        }
        let _announced = cache.find(ChunkId(0)).unwrap().announce();
        let read = cache.find(ChunkId(1)).unwrap();
        for n in 10..200 {
            assert!(fill(&cache, n));
            assert!(cache.bytes() <= 50);
        }
        assert!(cache.find(ChunkId(0)).is_some() && cache.find(ChunkId(1)).is_some());
        assert!(cache.find(ChunkId(2)).is_none());
        drop(read);
        assert!(cache.find_or_fetch(ChunkId(7_777), 51, |_| panic!("too large")).is_none());
    }

    #[test]
    fn without_room_nothing_is_fetched() {
        let cache = Cache::new(20);
        let loading: Vec<_> = (0..2).map(|n| cache.find_or_fetch(ChunkId(n), 10, |_| {}).unwrap()).collect();
        assert!(cache.find_or_fetch(ChunkId(2), 10, |_| panic!("no room")).is_none());
        assert_eq!(cache.bytes(), 20);
        drop(loading);
        assert!(cache.find_or_fetch(ChunkId(2), 10, |_| {}).is_some());
    }
}
