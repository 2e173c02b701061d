//! What is read, what is committed, and the shape in which it travels. The caps on it are [`crate::caps`].

use crate::caps;
use crate::key::{Key, KeyRange, Value};

/// 100 ns ticks since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ticks(pub u64);

/// Identifies a commit: the one that wrote a value. Opaque: compare for equality only. It means the same to every process
/// on the same engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub u128);

/// Where a snapshot stands: a version that no snapshot has which shows anything else, and the engine's clock at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub version: Version,
    pub now: Ticks,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub version: Version,
    pub value: Value,
}

/// Keys in `range`, in order (or in reverse), at most `limit` of them and about `max_bytes`.
#[derive(Clone, Debug)]
pub struct Scan {
    pub range: KeyRange,
    /// Start strictly behind this key (in the direction of the scan).
    pub after: Option<Key>,
    pub limit: usize,
    pub max_bytes: usize,
    pub reverse: bool,
    pub keys_only: bool,
}

impl Scan {
    /// The beginning of a range: up to 1,000 entries and a megabyte of them.
    pub fn of(range: KeyRange) -> Self {
        Self { range, after: None, limit: 1_000, max_bytes: 1 << 20, reverse: false, keys_only: false }
    }
}

#[derive(Clone, Debug, Default)]
pub struct ScanPage {
    pub items: Vec<(Key, Entry)>,
    /// More keys stand in the range behind the last one returned.
    pub more: bool,
}

/// Counts the keys of a range in order, at most `limit` of them.
#[derive(Clone, Debug)]
pub struct Count {
    pub range: KeyRange,
    /// Only keys whose value is greater than this, byte by byte, are counted.
    pub value_above: Option<Value>,
    /// Rows that are looked at, counted or not. At most [`caps::COUNT`] are.
    pub limit: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub count: usize,
    /// The first key that was not looked at; `None` at the end of the range.
    pub next: Option<Key>,
}

/// How far one look goes. The walk holds its thread until it has seen so many rows or so many bytes, so this is what
/// others on the same thread wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    pub rows: usize,
    /// Keys and values, wanted or not. The row that goes over is the last one.
    pub bytes: usize,
}

/// What was wanted of the rows that were looked at.
#[derive(Clone, Debug, Default)]
pub struct LookPage {
    pub items: Vec<(Key, Entry)>,
    /// The first key that was not looked at; `None` at the end of the range.
    pub next: Option<Key>,
}

/// Keys under `prefix`, where every key whose rest contains `delimiter` is folded into one group: the
/// engine seeks behind a group instead of walking it.
#[derive(Clone, Debug)]
pub struct SkipScan {
    pub prefix: Key,
    pub delimiter: Key,
    /// Start strictly behind this key; behind every member of a group when it is a group's prefix.
    pub after: Option<Key>,
    pub limit: usize,
    pub max_bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipItem {
    Entry(Key, Entry),
    /// The common prefix, delimiter included.
    Group(Key),
}

#[derive(Clone, Debug, Default)]
pub struct SkipPage {
    pub items: Vec<SkipItem>,
    pub more: bool,
}

/// Names a transaction for [`crate::Engine::outcome`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TxnId(pub u128);

/// Names a chunk of bytes in the extents. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId(pub u128);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedVersion {
    Version(Version),
    /// In an attempt of [`crate::Engine::run`] that writes the key: it was not there since it was read either. So what makes a key anew
    /// is dated later than all that stood there before. A transaction put together by hand asks about the moment of
    /// its commit alone.
    Absent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    Put(Key, Value),
    Delete(Key),
    /// See [`Plan::delete_without_trace`].
    DeleteWithoutTrace(Key),
}

impl Write {
    /// The bytes of its key and value.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Put(key, value) => key.len() + value.len(),
            Self::Delete(key) | Self::DeleteWithoutTrace(key) => key.len(),
        }
    }

    pub fn key(&self) -> &Key {
        match self {
            Self::Put(key, _) | Self::Delete(key) | Self::DeleteWithoutTrace(key) => key,
        }
    }
}

/// No key in the range was written since the stamp. [`crate::Reader::range_check`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeCheck {
    pub range: KeyRange,
    pub since: Stamp,
    /// A key that every transaction which writes into the range has among its checks or its writes.
    pub guard: Key,
    /// What the range held at the stamp, for an engine that does not know what was written since. Such an engine lets no
    /// check without it pass.
    pub digest: Option<u128>,
}

#[derive(Clone, Debug)]
pub struct Txn {
    pub id: TxnId,
    pub checks: Vec<(Key, ExpectedVersion)>,
    pub range_checks: Vec<RangeCheck>,
    pub writes: Vec<Write>,
    /// Writes to keys that no other transaction can be checking: see [`Plan::put_private`]. No key stands here and in `writes`.
    pub private_writes: Vec<Write>,
    /// Chunks that this commit makes reachable; written and synced before it.
    pub publish: Vec<ChunkId>,
    /// Chunks that this commit gives back.
    pub release: Vec<ChunkId>,
    pub deadline: Option<std::time::Instant>,
}

impl Txn {
    /// Nothing yet.
    pub fn new(id: TxnId) -> Self {
        Self {
            id,
            checks: Vec::new(),
            range_checks: Vec::new(),
            writes: Vec::new(),
            private_writes: Vec::new(),
            publish: Vec::new(),
            release: Vec::new(),
            deadline: None,
        }
    }

    pub(crate) fn all_writes(&self) -> impl Iterator<Item = &Write> {
        self.writes.iter().chain(&self.private_writes)
    }
}

/// What a `run` closure decides: the writes, and what to answer if they commit.
/// The checks come from the reader. No writes and no chunks: nothing is committed.
#[derive(Debug)]
pub struct Plan<T> {
    pub writes: Vec<Write>,
    pub private_writes: Vec<Write>,
    pub publish: Vec<ChunkId>,
    pub release: Vec<ChunkId>,
    pub output: T,
}

impl<T> Plan<T> {
    pub fn new(output: T) -> Self {
        Self {
            writes: Vec::new(),
            private_writes: Vec::new(),
            publish: Vec::new(),
            release: Vec::new(),
            output,
        }
    }

    /// Nothing is committed.
    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty()
            && self.private_writes.is_empty()
            && self.publish.is_empty()
            && self.release.is_empty()
    }

    /// What the commit would count against [`caps::TXN`].
    pub fn size(&self) -> usize {
        let chunks = self.publish.len() + self.release.len();
        let writes = self.writes.iter().chain(&self.private_writes);
        writes.map(Write::len).sum::<usize>() + chunks * caps::CHUNK
    }

    pub fn put(&mut self, key: impl Into<Key>, value: impl Into<Value>) {
        self.writes.push(Write::Put(key.into(), value.into()));
    }

    /// The key is copied: one that a scan found is a slice of the block that it was read from, and would keep the whole
    /// block in memory for as long as the engine remembers that the key was deleted.
    pub fn delete(&mut self, key: impl Into<Key>) {
        self.writes.push(Write::Delete(Key::copy_from_slice(&key.into())));
    }

    /// Like [`Self::delete`], for a key that no transaction makes because it has found it absent: most keys that are made of ids.
    /// An engine that cannot look back does not note then that it was there.
    pub fn delete_without_trace(&mut self, key: impl Into<Key>) {
        self.writes.push(Write::DeleteWithoutTrace(Key::copy_from_slice(&key.into())));
    }

    /// Like [`Self::put`], for a key that no other transaction can be checking at that time, alone or in a range: one made of
    /// a fresh id, which others learn from what is committed with it. An engine that locks keys takes no lock for it, so a
    /// wrong use is a lost check. A debug build of the local engine stops when such a write is the reason of a conflict.
    pub fn put_private(&mut self, key: impl Into<Key>, value: impl Into<Value>) {
        self.private_writes.push(Write::Put(key.into(), value.into()));
    }

    /// Like [`Self::delete`], for a key that no other transaction can be checking: one that is only ever read untracked.
    pub fn delete_private(&mut self, key: impl Into<Key>) {
        self.private_writes.push(Write::Delete(Key::copy_from_slice(&key.into())));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    pub version: Version,
    pub now: Ticks,
}

/// What became of a transaction whose commit ended `Unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Committed(Commit),
    NotCommitted,
}
