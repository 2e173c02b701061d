//! The engine on local disk: an LSM tree with a log (fjall) for keys and values.
//!
//! Of fjall only this is used: plain atomic batches from one thread at a time, and snapshots. The log is synced
//! beside fjall, in [`self::fjall::log`].

mod descriptors;
mod directory;
mod fjall;
mod merging;
mod open;
mod row_cache;
mod superblock;
mod survey;
mod table_reads;
mod voids;
mod walk;

use self::fjall::background;
use self::fjall::log::Log;
use self::fjall::log_preallocator::LogPreallocator;
use self::fjall::marker::{self, Kind, Marker};
use self::fjall::memtable_reaper::MemtableReaper;
use crate::caps::{OWN, WIDE};
use crate::error::{Corrupt, EngineError};
use crate::key::Value;
use crate::local::extent::ExtentOptions;
use crate::local::shared::Published;
use crate::local::space::Space;
use crate::local::store::Group;
use crate::stats::RowCacheStats;
use crate::txn::{Ticks, Write};
use ::fjall::config::{BlockSizePolicy, CompressionPolicy, PinningPolicy, RestartIntervalPolicy};
use ::fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable};
use bytes::Buf;
use directory::Directory;
use merging::Merging;
use parking_lot::Mutex;
use row_cache::RowCache;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use superblock::{Noted, Superblock};
use survey::Survey;
use table_reads::{Place, TableReads};
use tokio::sync::Semaphore;
use voids::Voids;

pub(crate) use merging::Tick;
pub use open::OpenError;
pub(crate) use open::open;

#[derive(Clone, Debug)]
pub struct Options {
    /// Memory for blocks of tables.
    pub cache_bytes: u64,
    /// Memory for single rows.
    pub row_cache_bytes: u64,
    /// Memory for what is not yet in a table, for each of the two large keyspaces.
    pub memtable_bytes: u64,
    /// Tables whose files are open at a time.
    pub table_files: usize,
    pub extents: ExtentOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 192 << 20,
            row_cache_bytes: 64 << 20,
            memtable_bytes: 32 << 20,
            table_files: 512,
            extents: ExtentOptions::default(),
        }
    }
}

/// The length of a table's file, and the memory that a merge takes.
const TABLE: u64 = 32 << 20;

const OWN_MEMTABLE: u64 = 8 << 20;

/// What a row takes in the log beside its key and value, its version included.
const ITEM: usize = 32;

/// Few and fixed; a key's first byte says where it lives.
struct Spaces {
    own: Keyspace,
    rows: Keyspace,
    wide: Keyspace,
    row_cache: Option<RowCache>,
    voids: Voids,
    table_reads: TableReads,
    /// When the memory of each is written out.
    memtable_bytes: [u64; 3],
    // Last, so that it is dropped last.
    db: Database,
}

impl Spaces {
    fn open(path: &Path, options: &Options) -> ::fjall::Result<Self> {
        let builder = Database::builder(path)
            .cache_size(options.cache_bytes)
            .worker_threads(1)
            .max_cached_files(Some(options.table_files.max(10)))
            // The least it takes: what is in the log is replayed at the next opening.
            .max_journaling_size(64 << 20)
            // Marks must be found in the raw log.
            .journal_compression(CompressionType::None);
        let db = background::starting_threads(|| builder.open())??;
        let create = |memtable: u64, block: u32| {
            move || {
                KeyspaceCreateOptions::default()
                    .max_memtable_size(memtable)
                    .data_block_size_policy(BlockSizePolicy::all(block))
                    // Every key whole: found by halving, without reading the rows before it.
                    .data_block_restart_interval_policy(RestartIntervalPolicy::all(1))
                    // A merge holds the blocks that it read until the table that it writes is full, by the length of its
                    // file: with compression, of any amount of memory (decision 0015).
                    .data_block_compression_policy(CompressionPolicy::disabled())
                    .compaction_strategy(Arc::new(merging::no_merges()))
                    .filter_block_pinning_policy(PinningPolicy::all(true))
                    .index_block_pinning_policy(PinningPolicy::all(true))
            }
        };
        let own = db.keyspace("own", create(OWN_MEMTABLE, 4 << 10))?;
        let rows = db.keyspace("rows", create(options.memtable_bytes, 4 << 10))?;
        let wide = db.keyspace("wide", create(options.memtable_bytes, 8 << 10))?;
        let table_reads = TableReads::default();
        table_reads.doubt_all([&own, &rows, &wide]);
        Ok(Self {
            own,
            rows,
            wide,
            row_cache: RowCache::new(options.row_cache_bytes),
            voids: Voids::default(),
            table_reads,
            memtable_bytes: [OWN_MEMTABLE, options.memtable_bytes, options.memtable_bytes],
            db,
        })
    }

    fn all(&self) -> [&Keyspace; 3] {
        [&self.own, &self.rows, &self.wide]
    }

    /// What was replaced before this, in fjall's order, no snapshot shows any more.
    fn oldest_read(&self) -> ::fjall::SeqNo {
        self.db.supervisor.snapshot_tracker.get_seqno_safe_to_gc()
    }

    fn of(&self, key: &[u8]) -> &Keyspace {
        match key.first() {
            Some(&OWN) => &self.own,
            Some(&WIDE) => &self.wide,
            _ => &self.rows,
        }
    }
}

pub(crate) struct Embedded {
    // First, so that its thread has ended when the rest is dropped.
    _survey: Survey,
    merging: Arc<Merging>,
    space: Arc<Space>,
    spaces: Arc<Spaces>,
    log: Log,
    /// Held while the log is written, and only then.
    log_preallocator: Mutex<LogPreallocator>,
    memtable_reaper: Mutex<MemtableReaper>,
    /// Marks the directory's own records.
    id: u128,
    superblock: Superblock,
    noted: Mutex<Noted>,
    _directory: Directory,
}

impl Embedded {
    fn new(
        spaces: Arc<Spaces>,
        log: Log,
        log_preallocator: LogPreallocator,
        superblock: Superblock,
        noted: Noted,
        directory: Directory,
        published: &Arc<Published>,
        (merging, space): (Arc<Merging>, Arc<Space>),
    ) -> Self {
        let id = noted.id;
        Self {
            _survey: Survey::start(&spaces, published),
            merging,
            space,
            spaces,
            log,
            log_preallocator: Mutex::new(log_preallocator),
            memtable_reaper: Mutex::new(MemtableReaper::new()),
            id,
            superblock,
            noted: Mutex::new(noted),
            _directory: directory,
        }
    }

    pub fn apply(&self, group: &Group) -> Result<(), EngineError> {
        let id = self.id;
        let spaces = &*self.spaces;
        let mut batch = ::fjall::OwnedWriteBatch::with_capacity(spaces.db.clone(), group.writes.len() + 2)
            .durability(Some(PersistMode::Buffer));
        // First and last in the batch, as it lies in the log.
        let begin = stamped(group.last, &marker::begin_value(group, id));
        let mut bytes = begin.len() + 4 * ITEM;
        batch.insert(&spaces.own, marker::begin_key(group), begin);
        let end = Marker::of(group, Kind::End).encode(id);
        bytes += end.len();
        let mut deleted = 0;
        for (seq, write) in &group.writes {
            bytes += ITEM + write.len();
            match write {
                Write::Put(key, value) => batch.insert(spaces.of(key), key.clone(), stamped(*seq, value)),
                Write::Delete(key) | Write::DeleteWithoutTrace(key) => {
                    deleted += 1;
                    batch.remove(spaces.of(key), key.clone());
                }
            }
        }
        batch.insert(&spaces.own, marker::END_ROW, stamped(group.last, &end));
        if self.memtable_reaper.lock().keep(spaces.all()) {
            self.merging.wake();
        }
        self.merging.deleted(deleted);
        let mut log_preallocator = self.log_preallocator.lock();
        log_preallocator.make_room(bytes as u64, &self.log.newest());
        batch.commit().map_err(|error| {
            tracing::error!(%error, "the log could not be written");
            EngineError::Unknown
        })
    }

    pub fn sync(&self) -> Result<(), EngineError> {
        self.log.sync().map_err(|error| {
            tracing::error!(%error, "the log could not be synced");
            EngineError::Unknown
        })
    }

    pub fn start_merging(&self, tick: Tick) {
        self.merging.start(&self.spaces, &self.space, tick);
    }

    pub fn stop_merging(&self) {
        self.merging.stop();
    }

    pub fn make_room(&self) {
        self.merging.wake();
    }

    pub fn may_shrink(&self, bytes: u64) -> bool {
        self.merging.may_shrink(bytes)
    }

    pub fn may_promise(&self, bytes: u64) -> bool {
        self.merging.may_promise(bytes)
    }

    pub fn reads_aside(&self) -> u64 {
        self.spaces.table_reads.aside()
    }

    pub fn failed(&self) -> Option<&'static str> {
        self.merging.failed()
    }

    pub fn row_cache_stats(&self) -> RowCacheStats {
        self.spaces.row_cache.as_ref().map(RowCache::stats).unwrap_or_default()
    }

    pub fn publish_to_cache(&self, group: &Group) {
        if let Some(cache) = &self.spaces.row_cache {
            cache.written(&group.writes, group.last);
        }
        self.spaces.voids.written(&group.writes, group.first..=group.last);
    }

    pub fn snapshot(&self, seq: u64) -> EmbeddedSnapshot {
        EmbeddedSnapshot::new(self.spaces.clone(), seq)
    }

    pub fn note(&self, seq: u64, now: Ticks, clean: bool) -> Result<(), EngineError> {
        let mut noted = self.noted.lock();
        let next = Noted { generation: noted.generation + 1, seq, now, clean, ..*noted };
        self.superblock.write(next).map_err(|error| {
            tracing::error!(%error, "the superblock could not be written");
            EngineError::Unavailable("the superblock could not be written")
        })?;
        *noted = next;
        Ok(())
    }
}

/// Every value is stored behind the sequence number of the commit that wrote it.
fn stamped(seq: u64, value: &[u8]) -> Value {
    let mut bytes = Vec::with_capacity(8 + value.len());
    bytes.extend_from_slice(&seq.to_be_bytes());
    bytes.extend_from_slice(value);
    bytes.into()
}

fn unstamped(mut stored: Value) -> Result<(u64, Value), EngineError> {
    let Ok(seq) = stored.try_get_u64() else {
        return Err(EngineError::Corrupt(Corrupt("a stored value is too short".into())));
    };
    Ok((seq, stored))
}

pub(crate) struct EmbeddedSnapshot {
    snapshot: ::fjall::Snapshot,
    spaces: Arc<Spaces>,
    seq: u64,
}

impl EmbeddedSnapshot {
    fn new(spaces: Arc<Spaces>, seq: u64) -> Self {
        Self { snapshot: spaces.db.snapshot(), spaces, seq }
    }

    pub fn seq(&self) -> u64 {
        self.seq
    }

    pub fn get(&self, key: &[u8]) -> Result<Option<(u64, Value)>, EngineError> {
        let cache = self.spaces.row_cache.as_ref();
        if let Some(known) = cache.and_then(|cache| cache.get(key, self.seq)) {
            return Ok(known);
        }
        self.get_and_keep(key)
    }

    /// What the tables show, for the row cache to know.
    fn get_and_keep(&self, key: &[u8]) -> Result<Option<(u64, Value)>, EngineError> {
        let row = self.get_latest(key)?;
        if let Some(cache) = &self.spaces.row_cache {
            cache.keep(key, self.seq, row.as_ref());
        }
        Ok(row)
    }

    /// Without waiting for a disk, so far as that is known; `None` when it has to be read aside.
    pub fn get_at_once(&self, key: &[u8]) -> Option<Result<Option<(u64, Value)>, EngineError>> {
        let cache = self.spaces.row_cache.as_ref();
        if let Some(known) = cache.and_then(|cache| cache.get(key, self.seq)) {
            return Some(Ok(known));
        }
        let reads = &self.spaces.table_reads;
        match reads.find(self.spaces.of(key), key) {
            Place::Memory => Some(self.get_and_keep(key)),
            Place::Tables(at) if reads.is_doubted(at) => {
                self.spaces.is_in_memtable(key, self.snapshot.seqno()).then(|| self.get_and_keep(key))
            }
            Place::Tables(at) => Some(self.get_timed(key, at)),
        }
    }

    /// Where waiting for a disk delays no other request.
    pub fn get_aside(&self, key: &[u8]) -> Result<Option<(u64, Value)>, EngineError> {
        let cache = self.spaces.row_cache.as_ref();
        if let Some(known) = cache.and_then(|cache| cache.get(key, self.seq)) {
            return Ok(known);
        }
        let reads = &self.spaces.table_reads;
        reads.count_aside();
        match reads.find(self.spaces.of(key), key) {
            Place::Memory => self.get_and_keep(key),
            Place::Tables(at) => self.get_timed(key, at),
        }
    }

    fn get_timed(&self, key: &[u8], at: usize) -> Result<Option<(u64, Value)>, EngineError> {
        let began = Instant::now();
        let row = self.get_and_keep(key);
        self.spaces.table_reads.took(at, began.elapsed());
        row
    }

    pub fn turns_aside(&self) -> &Arc<Semaphore> {
        self.spaces.table_reads.turns()
    }

    pub fn get_latest(&self, key: &[u8]) -> Result<Option<(u64, Value)>, EngineError> {
        let stored = self.snapshot.get(self.spaces.of(key), key).map_err(read_failed)?;
        stored.map(|stored| unstamped(stored.into())).transpose()
    }
}

fn read_failed(error: ::fjall::Error) -> EngineError {
    tracing::error!(%error, "a read failed");
    match error {
        ::fjall::Error::Io(_) => EngineError::Unavailable("a read from disk failed"),
        error => EngineError::Corrupt(Corrupt(error.to_string())),
    }
}
