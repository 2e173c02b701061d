//! The extents alone, over a simulated disk and rows in memory.

mod crash;
mod fault;
mod model;
mod script;
mod single;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, LazyLock},
};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::runtime::Runtime;

use super::{CommitCopies, EXTENT_ROWS, ExtentOptions, LocalExtents, Rows, Written};
use crate::{
    error::EngineError,
    extents::Extents,
    host::disk::{Disk, sim::SimDisk},
    key::{Key, Value},
    local::space::Space,
    txn::{ChunkId, Write},
};

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap());

/// The ordered store's stand-in: commits are atomic and durable at once.
#[derive(Clone, Default)]
struct Kv(Arc<Mutex<BTreeMap<Key, Value>>>);

impl Rows for Kv {
    fn get(&self, key: &[u8]) -> Result<Option<Value>, EngineError> {
        Ok(self.0.lock().get(key).cloned())
    }
}

impl Kv {
    fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.0.lock().clone())))
    }

    fn extent_rows(&self) -> Vec<(Key, Value)> {
        let rows = self.0.lock();
        rows.iter()
            .filter(|(key, _)| key.starts_with(EXTENT_ROWS))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }

    fn apply(&self, writes: Vec<Write>) {
        let mut rows = self.0.lock();
        for write in writes {
            match write {
                Write::Put(key, value) => rows.insert(key, value),
                Write::Delete(key) | Write::DeleteWithoutTrace(key) => rows.remove(&key),
            };
        }
    }
}

/// Extents, their disk, and a committer that is a function.
#[derive(Clone)]
struct Store {
    disk: SimDisk,
    kv: Kv,
    extents: LocalExtents,
    commits: Arc<Mutex<()>>,
}

fn small() -> ExtentOptions {
    ExtentOptions {
        extent_bytes: 256 << 10,
        first_extent_bytes: 64 << 10,
        writers: 1,
        reserve_bytes: 0,
        spare_extents: 1,
        collect_bytes_per_second: 0,
        open_files: 2,
    }
}

impl Store {
    fn new() -> Self {
        Self::open(SimDisk::new(), Kv::default(), 1, small()).unwrap()
    }

    fn open(disk: SimDisk, kv: Kv, salt: u32, options: ExtentOptions) -> Result<Self, EngineError> {
        let dir = Disk::Sim(disk.clone()).dir(Path::new("ext")).unwrap();
        let space = Space::plain(dir.clone(), options.reserve_bytes);
        let extents = LocalExtents::open(dir, options, salt, kv.extent_rows(), Arc::new(kv.clone()), space)?;
        Ok(Self { disk, kv, extents, commits: Arc::default() })
    }

    fn reopen(self, salt: u32) -> Self {
        Self::open(self.disk.clone(), self.kv.clone(), salt, small()).unwrap()
    }

    /// What a user of the engine has.
    fn handle(&self) -> Extents {
        Extents::local(self.extents.clone())
    }

    fn write(&self, bytes: &[u8]) -> Result<Written, EngineError> {
        RUNTIME.block_on(self.handle().write(Bytes::copy_from_slice(bytes)))
    }

    fn read(&self, id: ChunkId, range: std::ops::Range<u32>) -> Result<Bytes, EngineError> {
        RUNTIME.block_on(self.extents.read(id, range))
    }

    /// What the engine's committer does with a group.
    fn commit(&self, publish: &[ChunkId], release: &[ChunkId]) -> Result<(), EngineError> {
        let _one_at_a_time = self.commits.lock();
        if !self.extents.claim(publish) {
            return Err(EngineError::Unavailable("not claimed"));
        }
        self.extents.sync(publish)?;
        let (writes, under_way) = self.extents.rows(publish, release, &|key| self.kv.get(key))?;
        if self.disk.is_cut() {
            return Err(EngineError::Unavailable("power cut"));
        }
        self.kv.apply(writes);
        self.extents.committed(publish, release, under_way);
        Ok(())
    }

    fn put(&self, bytes: &[u8]) -> Result<ChunkId, EngineError> {
        let written = self.write(bytes)?;
        self.commit(&[written.id], &[])?;
        Ok(written.id)
    }

    fn collect(&self) -> Result<(), EngineError> {
        let store = self.clone();
        let commit: CommitCopies = Arc::new(move |copies| store.commit(&copies, &[]));
        self.extents.collect(&commit)
    }

    /// The counts in the rows of extents are those of the chunks' rows.
    fn check_counts(&self) {
        use super::{CHUNK_ROWS, record, rows};
        let mut expected: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
        let all = self.kv.0.lock().clone();
        for (key, value) in all.iter().filter(|(key, _)| key.starts_with(CHUNK_ROWS)) {
            let id = ChunkId(u128::from_be_bytes(key[CHUNK_ROWS.len()..].try_into().unwrap()));
            let count = expected.entry(rows::decode_chunk(value).unwrap().extent).or_default();
            count.0 += record::pages(record::IdParts::unpack(id).len);
            count.1 += 1;
        }
        for (key, value) in self.kv.extent_rows() {
            let (number, row) = rows::decode_extent(&key, &value).unwrap();
            let counted = expected.remove(&number).unwrap_or_default();
            assert_eq!((row.live_pages, row.live_chunks), counted, "extent {number}");
        }
        assert!(expected.is_empty(), "chunks in extents without rows: {expected:?}");
    }
}

/// Bytes that differ from chunk to chunk and from place to place.
fn payload(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}
