//! What each operation does and when it is refused. Knows no word of HTTP.

pub mod blob;
pub mod body;
pub mod budget;
pub mod fault;
pub mod members;
pub mod outgoing;
pub mod pace;
pub mod queue;
pub mod settings;
pub mod shared;
pub mod store;
pub mod table;
#[cfg(test)]
mod testing;
mod turns;
mod workers;

#[cfg(test)]
extern crate self as lazuli_service;

use std::sync::Arc;
use std::time::{Duration, Instant};

use lazuli_engine::Engine;
use lazuli_model::admission::lease::LeaseId;
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;

pub use body::{Body, BodyError};
pub use fault::{Answer, Fault};
pub use lazuli_engine::crc64;
pub use members::Members;
pub(crate) use store::{content, manifest, readers};
pub use store::{download, key, record, upkeep, upload};

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
    /// Whether the clock is where tests moved it to.
    pub test_clock: bool,
    /// How long a blob is on its way out of the archive, with the standard priority.
    pub rehydration_time: Duration,
}

/// For request bodies that are read as a whole: block lists, batches, entities, XML.
pub(crate) const DOCUMENT_MEMORY: usize = 64 * 1024 * 1024;
/// Long block lists that are put together at a time.
const LONG_LISTS: usize = 4;
/// How long a Put Block List waits until it is one of them.
const LONG_LISTS_PATIENCE: Duration = Duration::from_secs(30);

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            upload_memory: 32 * 1024 * 1024,
            answer_memory: 64 * 1024 * 1024,
            commit_patience: Duration::from_secs(30),
            members: Members::Alone,
            test_clock: false,
            rehydration_time: Duration::from_secs(10 * 60 * 60),
        }
    }
}

/// The services over one engine: what all handles share, and the engine's handle that this one commits with. Cheap to
/// clone.
#[derive(Clone)]
pub struct Services(Arc<Inner>, Engine);

struct Inner {
    options: ServiceOptions,
    budget: budget::Budget,
    documents: budget::Budget,
    outgoing: outgoing::Outgoing,
    workers: workers::Workers,
    readers: readers::Readers,
    membership: members::Membership,
    stage_counts: blob::StageCounts,
    long_lists: turns::Turns,
    upkeep: upkeep::Counters,
    hands: queue::Hands,
}

impl Services {
    pub fn new(engine: Engine, options: ServiceOptions) -> Self {
        let budget = budget::Budget::new(options.upload_memory);
        let outgoing = outgoing::Outgoing::new(options.answer_memory);
        let readers = match options.members {
            Members::Alone => readers::Readers::default(),
            Members::Several => readers::Readers::fenced(),
        };
        let inner = Inner {
            options,
            budget,
            documents: budget::Budget::new(DOCUMENT_MEMORY),
            outgoing,
            workers: workers::Workers::default(),
            readers,
            membership: members::Membership::default(),
            stage_counts: blob::StageCounts::default(),
            long_lists: turns::Turns::new(LONG_LISTS, LONG_LISTS_PATIENCE),
            upkeep: upkeep::Counters::default(),
            hands: queue::Hands::default(),
        };
        Self(Arc::new(inner), engine)
    }

    pub fn engine(&self) -> &Engine {
        &self.1
    }

    /// For work that gives back what is dead: see [`Engine::giving_back`].
    pub(crate) fn giving_back(&self) -> Self {
        Self(self.0.clone(), self.1.giving_back())
    }

    pub fn options(&self) -> &ServiceOptions {
        &self.0.options
    }

    /// Memory for request bodies that are read as a whole.
    pub(crate) fn documents(&self) -> &budget::Budget {
        &self.0.documents
    }

    pub(crate) fn budget(&self) -> &budget::Budget {
        &self.0.budget
    }

    pub fn outgoing(&self) -> &outgoing::Outgoing {
        &self.0.outgoing
    }

    pub(crate) fn workers(&self) -> &workers::Workers {
        &self.0.workers
    }

    pub(crate) fn readers(&self) -> &readers::Readers {
        &self.0.readers
    }

    pub(crate) fn membership(&self) -> &members::Membership {
        &self.0.membership
    }

    pub(crate) fn hands(&self) -> &queue::Hands {
        &self.0.hands
    }

    /// What the sweeper has met.
    pub fn upkeep(&self) -> &upkeep::Counters {
        &self.0.upkeep
    }

    pub(crate) fn long_lists(&self) -> &turns::Turns {
        &self.0.long_lists
    }

    pub(crate) fn stage_counts(&self) -> &blob::StageCounts {
        &self.0.stage_counts
    }

    /// The engine's clock: what leases and ETags are measured by.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_unix_ticks(self.engine().now().0)
    }

    /// The time of day: what dates of requests are measured by.
    pub fn wall_now(&self) -> Timestamp {
        Timestamp::from_unix_ticks(self.engine().wall_now().0)
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(self.options().commit_patience)
    }
}

/// What every operation is told beside its own input.
#[derive(Clone, Debug)]
pub struct Context {
    pub account: Arc<str>,
    pub version: ApiVersion,
}

impl Context {
    /// For what is read of an account on behalf of the server itself.
    pub fn reading(account: &str) -> Self {
        Self { account: account.into(), version: ApiVersion::NEWEST }
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
