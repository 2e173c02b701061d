//! What each operation does and when it is refused. Knows no word of HTTP.

pub mod blob;
pub mod body;
pub mod budget;
pub mod event;
pub mod fault;
pub mod file;
pub mod open_file;
pub mod outgoing;
pub mod pace;
pub mod query;
pub mod queue;
pub mod shared;
pub mod store;
pub mod table;
#[cfg(test)]
mod testing;
mod turns;

#[cfg(test)]
extern crate self as lazuli_service;

use std::sync::Arc;
use std::time::Duration;

use lazuli_model::access::Principal;
use lazuli_model::account::AccountFeatures;
use lazuli_model::admission::lease::LeaseId;
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;

pub use body::{Body, BodyError};
pub use fault::{Answer, Fault};
pub use lazuli_engine::{Crc64, crc64, crc64_combine};
pub use store::{Formats, Members, Services, download, moving, upkeep, upload};

/// Settings of the meaning, whatever the wire.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// Memory that bodies on their way to the extents may take together.
    pub upload_memory: usize,
    /// Memory that answers on their way to their clients may take together.
    pub answer_memory: usize,
    /// How long one request may go on trying to commit.
    pub commit_patience: Duration,
    /// Whether other servers work over the same engine.
    pub members: Members,
    /// Bodies up to this size are kept beside the records, not as chunks of bytes. At most [`MOST_INLINE`].
    pub inline_limit: usize,
    /// What this program reads of what is stored.
    pub formats: Formats,
    /// Whether the clock is where tests moved it to.
    pub test_clock: bool,
    /// How long a blob is on its way out of the archive, with the standard priority.
    pub rehydration_time: Duration,
    /// What each account can do beyond a plain one.
    pub features: Arc<AccountFeatures>,
    /// Whether downloads hold a snapshot of an engine in this process, which costs nothing. False treats it as one of a database,
    /// for tests.
    pub holds_snapshots: bool,
}

/// Of `inline_limit`: what a value of the engine holds, sealed too.
pub const MOST_INLINE: usize = 64 * 1024;

/// For request bodies that are read as a whole: block lists, batches, entities, XML.
pub(crate) const DOCUMENT_MEMORY: usize = 64 * 1024 * 1024;

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            upload_memory: 32 * 1024 * 1024,
            answer_memory: 64 * 1024 * 1024,
            commit_patience: Duration::from_secs(30),
            members: Members::Alone,
            inline_limit: store::INLINE_LIMIT,
            formats: Formats::default(),
            test_clock: false,
            rehydration_time: Duration::from_secs(10 * 60 * 60),
            features: Arc::default(),
            holds_snapshots: true,
        }
    }
}

/// What every operation is told beside its own input.
#[derive(Clone, Debug)]
pub struct Context {
    pub account: Arc<str>,
    pub version: ApiVersion,
    /// On whose behalf, for what is judged by more than a grant: owners of files, access control lists.
    pub principal: Principal,
    /// The encryption scope that what is written goes under, where the request names one.
    pub encryption_scope: Option<Arc<str>>,
    /// The request, as events tell it; of accounts that have events.
    pub cause: Option<Arc<event::Cause>>,
    /// How long it waits for clients of SMB to give up what they keep, if less than the service allows.
    pub patience: Option<Duration>,
}

impl Context {
    pub fn of_owner(account: &str, version: ApiVersion) -> Self {
        Self {
            account: account.into(),
            version,
            principal: Principal::Owner,
            encryption_scope: None,
            cause: None,
            patience: None,
        }
    }

    /// For what is read of an account on behalf of the server itself.
    pub fn reading(account: &str) -> Self {
        Self::of_owner(account, ApiVersion::NEWEST)
    }
}

/// A random id from a generator of this thread: one is needed for every request, and asking the system for each
/// costs more than signing it.
pub fn fresh_uuid() -> uuid::Uuid {
    uuid::Builder::from_random_bytes(rand::random()).into_uuid()
}

/// Begins with the time: what is made at one time lies together in the store, and what was made long ago is not merged
/// with what is made now.
pub(crate) fn fresh_uuid_of(now: Timestamp) -> uuid::Uuid {
    let milliseconds = now.to_unix_ticks() / 10_000;
    uuid::Builder::from_unix_timestamp_millis(milliseconds, &rand::random()).into_uuid()
}

pub(crate) fn fresh_lease_id() -> LeaseId {
    LeaseId(fresh_uuid())
}

pub fn md5(bytes: &[u8]) -> [u8; 16] {
    use md5::Digest as _;
    md5::Md5::digest(bytes).into()
}
