//! What the handles, the readers and the tasks of the engine share.

use super::barrier::Barrier;
use super::clock::RemoteClock;
use super::lanes::ReadLanes;
use super::pinned::Pool;
use super::primary::Primaries;
use super::queue::Queue;
use super::settings::Settings;
use super::stats::Counters;
use crate::contention::Contention;
use crate::extents::Extents;
use crate::host::Random;
use crate::outcomes::RecentOutcomes;
use parking_lot::Mutex;
use std::sync::Arc;

pub(super) struct Shared {
    pub settings: Arc<Settings>,
    pub random: Random,
    pub clock: RemoteClock,
    pub primaries: Primaries,
    pub barrier: Barrier,
    /// Batches of keys are read through these.
    pub lanes: ReadLanes,
    /// Snapshots are held by these.
    pub pool: Pool,
    /// Transactions that wait for a lane, and those under way.
    pub queue: Queue,
    pub recent: Mutex<RecentOutcomes>,
    pub contention: Contention,
    pub extents: Extents,
    /// Under which name objects are written.
    #[cfg(feature = "objects")]
    pub writer: Option<super::writer::Writer>,
    #[cfg(feature = "objects")]
    pub reclaim: super::reclaim::Reclaim,
    pub counters: Counters,
}
