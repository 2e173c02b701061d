//! Ordered keys and extents of bytes, durable. No word of any service is known here.
//!
//! The seam is one-shot optimistic transactions: [`Engine::reader`] gives a snapshot, [`Engine::commit`]
//! takes checks and writes, all or nothing; [`Engine::run`] is the only retry loop.

mod clock;
mod coalescer;
mod core;
pub mod crc;
mod crowd;
mod embedded;
mod engine;
pub mod error;
pub mod extent;
mod fifo;
mod giving_back;
pub mod host;
pub mod key;
mod limits;
mod memory;
mod queue;
mod reader;
mod reply;
mod run;
mod scan;
mod space;
mod stats;
mod store;
#[cfg(test)]
mod tests;
pub mod txn;
mod window;
mod writing;

pub use crc::{Crc64, crc64, crc64_combine};
pub use embedded::{OpenError, Options};
pub use engine::Engine;
pub use error::{Corrupt, EngineError, RunError};
pub use extent::{ExtentOptions, ExtentStats, Extents, MAX_CHUNK, Pin, Written};
pub use host::Host;
pub use key::{Key, KeyRange, Value};
pub use reader::Reader;
pub use stats::{EngineStats, RowCacheStats, SyncStats};
pub use txn::{
    ChunkId, Commit, Entry, Expect, LookPage, Looks, Outcome, Plan, Scan, ScanPage, SkipItem, SkipPage,
    SkipScan, Stamp, Ticks, Txn, TxnId, Version, Write, caps,
};
