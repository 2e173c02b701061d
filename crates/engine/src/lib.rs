//! Ordered keys and extents of bytes, durable. No word of any service is known here.
//!
//! The contract is one-shot optimistic transactions: [`Engine::reader`] gives a snapshot, [`Engine::commit`] takes checks
//! and writes, all or nothing; [`Engine::run`] is the only retry loop. What stands in this folder is the same for
//! every engine; `backend` is the seam. Behind it are `local`, the engine of one process, and `remote`, that of several
//! processes over one database.

mod backend;
mod bounds;
pub mod caps;
mod contention;
pub mod crc;
mod engine;
pub mod error;
mod extents;
pub mod host;
pub mod key;
mod local;
#[cfg(feature = "objects")]
mod objects;
mod outcomes;
mod reader;
mod record;
#[cfg(feature = "postgres")]
mod remote;
mod run;
mod stats;
pub mod txn;

pub use crc::{Crc64, crc64, crc64_combine};
pub use engine::Engine;
pub use error::{Corrupt, EngineError, RunError};
pub use extents::{ExtentStats, Extents, MAX_CHUNK, ReadAhead, Written};
pub use host::Host;
pub use key::{Key, KeyRange, Value};
pub use local::{ExtentOptions, OpenError, Options};
#[cfg(feature = "objects")]
pub use object_store;
#[cfg(feature = "objects")]
pub use objects::ObjectOptions;
pub use reader::Reader;
#[cfg(feature = "postgres")]
pub use remote::{Bytes as RemoteBytes, ConnectError, Dialect, Reads, RemoteOptions};
pub use stats::{EngineStats, ObjectStats, RemoteStats, RowCacheStats, SyncStats};
pub use txn::{
    ChunkId, Commit, Count, Counted, Entry, ExpectedVersion, LookPage, Looks, Outcome, Plan, RangeCheck,
    Scan, ScanPage, SkipItem, SkipPage, SkipScan, Stamp, Ticks, Txn, TxnId, Version, Write,
};
