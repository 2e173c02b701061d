//! The handle of the services.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lazuli_engine::{Engine, EngineStats, ExtentStats};
use lazuli_model::time::Timestamp;
use tokio::sync::Semaphore;

use super::append_line::AppendLines;
use super::copy_jobs::Running;
use super::desk::Desk as OpenDesk;
use super::event::{Desk, EventStats};
use super::generations::Generations;
use super::members::{self, Members};
use super::queue::QueueCaches;
use super::sealing::ScopeKeys;
use super::small_contents::SmallContents;
use super::stage_counts::StageCounts;
use super::write_line::WriteLines;
use super::{last_access, readers, upkeep, workers};
use crate::{DOCUMENT_MEMORY, ServiceOptions, budget, outgoing, turns};

/// Long block lists that are put together at a time.
const LONG_LISTS: usize = 4;
/// How long a Put Block List waits until it is one of them.
const LONG_LISTS_PATIENCE: Duration = Duration::from_secs(30);

/// Copies whose bytes are on their way at a time.
const COPIES: usize = 64;
/// How long a further one waits before it is refused.
const COPIES_PATIENCE: Duration = Duration::from_secs(5);

/// The services over one engine: what all handles share, and the engine's handle that this one commits with. Cheap to
/// clone.
#[derive(Clone)]
pub struct Services {
    inner: Arc<Inner>,
    engine: Engine,
}

struct Inner {
    options: ServiceOptions,
    budget: budget::Budget,
    documents: budget::Budget,
    outgoing: outgoing::Outgoing,
    workers: workers::Workers,
    readers: readers::Readers,
    membership: members::Membership,
    stage_counts: StageCounts,
    long_lists: turns::Turns,
    copies: turns::Turns,
    running_copies: Running,
    access_notes: Arc<Semaphore>,
    upkeep: upkeep::Counters,
    events: Desk,
    opens: OpenDesk,
    queue_caches: QueueCaches,
    append_lines: AppendLines,
    write_lines: WriteLines,
    scope_keys: ScopeKeys,
    generations: Generations,
    small_contents: SmallContents,
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
            stage_counts: StageCounts::default(),
            long_lists: turns::Turns::new(LONG_LISTS, LONG_LISTS_PATIENCE),
            copies: turns::Turns::new(COPIES, COPIES_PATIENCE),
            running_copies: Running::default(),
            access_notes: Arc::new(Semaphore::new(last_access::NOTES)),
            upkeep: upkeep::Counters::default(),
            events: Desk::default(),
            opens: OpenDesk::default(),
            queue_caches: QueueCaches::default(),
            append_lines: AppendLines::default(),
            write_lines: WriteLines::default(),
            scope_keys: ScopeKeys::default(),
            generations: Generations::default(),
            small_contents: SmallContents::default(),
        };
        Self { inner: Arc::new(inner), engine }
    }

    /// The room of keys and plans alone has the engine: an operation that could reach it could write past admission.
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// For work that gives back what is dead: see [`Engine::giving_back`].
    pub(crate) fn giving_back(&self) -> Self {
        Self { inner: self.inner.clone(), engine: self.engine.giving_back() }
    }

    pub(super) fn small_contents(&self) -> &SmallContents {
        &self.inner.small_contents
    }

    pub(super) fn generations(&self) -> &Generations {
        &self.inner.generations
    }

    pub fn options(&self) -> &ServiceOptions {
        &self.inner.options
    }

    /// Memory for request bodies that are read as a whole.
    pub(crate) fn documents(&self) -> &budget::Budget {
        &self.inner.documents
    }

    pub(crate) fn budget(&self) -> &budget::Budget {
        &self.inner.budget
    }

    pub fn outgoing(&self) -> &outgoing::Outgoing {
        &self.inner.outgoing
    }

    pub(super) fn workers(&self) -> &workers::Workers {
        &self.inner.workers
    }

    pub(crate) fn readers(&self) -> &readers::Readers {
        &self.inner.readers
    }

    pub(super) fn membership(&self) -> &members::Membership {
        &self.inner.membership
    }

    pub(crate) fn queue_caches(&self) -> &QueueCaches {
        &self.inner.queue_caches
    }

    pub(super) fn append_lines(&self) -> &AppendLines {
        &self.inner.append_lines
    }

    pub(super) fn write_lines(&self) -> &WriteLines {
        &self.inner.write_lines
    }

    pub(super) fn scope_keys(&self) -> &ScopeKeys {
        &self.inner.scope_keys
    }

    /// What the sweeper has met.
    pub fn upkeep(&self) -> &upkeep::Counters {
        &self.inner.upkeep
    }

    pub(super) fn events(&self) -> &Desk {
        &self.inner.events
    }

    /// What is open through this server.
    pub(crate) fn opens(&self) -> &OpenDesk {
        &self.inner.opens
    }

    /// What became of events here.
    pub fn event_stats(&self) -> EventStats {
        self.events().stats()
    }

    pub(crate) fn long_lists(&self) -> &turns::Turns {
        &self.inner.long_lists
    }

    pub(crate) fn copies(&self) -> &turns::Turns {
        &self.inner.copies
    }

    pub(crate) fn running_copies(&self) -> &Running {
        &self.inner.running_copies
    }

    pub(super) fn access_notes(&self) -> &Arc<Semaphore> {
        &self.inner.access_notes
    }

    pub(super) fn stage_counts(&self) -> &StageCounts {
        &self.inner.stage_counts
    }

    /// Why the engine stopped for good, after a write to stable storage failed.
    pub fn is_stopped(&self) -> Option<&'static str> {
        self.engine().is_stopped()
    }

    /// Why nothing can be answered just now, though it may be again.
    pub fn unready(&self) -> Option<&'static str> {
        self.engine().unready()
    }

    /// Figures of the engine and of its extents.
    pub fn engine_stats(&self) -> (EngineStats, ExtentStats) {
        (self.engine().stats(), self.engine().extents().stats())
    }

    /// The engine's clock: what leases and ETags are measured by.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_unix_ticks(self.engine().now().0)
    }

    /// The time of day: what dates of requests are measured by.
    pub fn wall_now(&self) -> Timestamp {
        Timestamp::from_unix_ticks(self.engine().wall_now().0)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(self.options().commit_patience)
    }
}
