//! The engine of several processes over one PostgreSQL database.
//!
//! Rows are in one table, versions are the ids of the transactions that wrote them, and a group of transactions is committed
//! by one call of a function in the database (`sql/commit_2.sql`, where it is said why that is right). Nothing that decides is
//! kept here: what a process remembers is a guess that the commit checks. Decision 0042.

mod answer;
mod barrier;
mod carry;
mod clock;
mod commit;
mod connection;
mod fault;
mod group;
mod lanes;
mod long_key;
mod member;
mod options;
mod pinned;
mod primary;
mod queue;
#[cfg(feature = "objects")]
mod reclaim;
mod scan;
mod schema;
mod settings;
mod shared;
mod sql;
mod stats;
mod tls;
mod together;
mod upkeep;
mod uuid;
mod view;
#[cfg(feature = "objects")]
mod writer;

use crate::backend::{Opening, Submission};
use crate::contention::Contention;
use crate::error::{EngineError, Refusal};
use crate::extents::Extents;
use crate::host::Host;
use crate::key::Key;
#[cfg(feature = "objects")]
use crate::objects::{Names, ObjectExtents};
use crate::stats::EngineStats;
use crate::txn::{Commit, Outcome, Stamp, Ticks, Txn, TxnId};
use barrier::Barrier;
use clock::RemoteClock;
use fault::Fault;
use lanes::ReadLanes;
use member::{Member, version_of};
use options::Kept;
use pinned::Pool;
use primary::{PATIENCE, Primaries};
use queue::Queue;
use settings::Settings;
use shared::{Guard, Shared};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{timeout, timeout_at};
use uuid::Uuid;

pub use options::{Bytes, ConnectError, Dialect, Reads, RemoteOptions};
pub(crate) use view::RemoteView;

/// A transaction is not committed later than this after it was given to the engine.
const COMMIT_PATIENCE: Duration = Duration::from_secs(30);

/// After the engine was connected.
const CLOCK_IS_KNOWN: Duration = Duration::from_secs(2);

const DEADLINE: EngineError = EngineError::Unavailable("deadline passed");

pub(crate) struct Remote {
    shared: Arc<Shared>,
    /// What it was connected with.
    origin: (RemoteOptions, Host),
    /// Reading goes on until the engine is dropped.
    _readers: JoinSet<()>,
}

impl Remote {
    pub async fn connect(options: RemoteOptions, host: Host) -> Result<Self, ConnectError> {
        let origin = (options.clone(), host.clone());
        let settings = Arc::new(Settings::new(&options)?);
        let runtime = Handle::current();
        let primaries = Primaries::new(settings.clone(), runtime.clone());
        let (connection, primary) = primaries.first(options.start_patience).await?;
        let found = schema::prepare(&connection, &settings, &host.random).await?;
        let clock = RemoteClock::new(host.clock, found.told, found.persisted, options.offset.clone());
        let extents = match &options.bytes.0 {
            Kept::Memory(extents) => extents.clone(),
            #[cfg(feature = "objects")]
            Kept::Objects(store, options) => {
                let names = Names { incarnation: 0, hour: 0, counter: 0 };
                Extents::objects(ObjectExtents::new(store.clone(), *options, names))
            }
        };
        #[cfg(feature = "objects")]
        let writer = match extents.as_objects() {
            None => None,
            Some(objects) => {
                writer::adopt(&connection, &settings.schema, &found.cluster, objects).await?;
                let (writer, names) =
                    writer::register(&connection, &settings.schema, &host.random, clock.steady()).await?;
                objects.rename(|unnamed| *unnamed = names);
                Some(writer)
            }
        };
        primaries.remember_cluster(found.cluster);
        let shared = Arc::new(Shared {
            clock,
            primaries,
            barrier: Barrier::default(),
            lanes: ReadLanes::new(settings.read_lanes),
            pool: Pool::new(settings.readers),
            queue: Queue::new(settings.commit_lanes),
            recent: Default::default(),
            contention: Contention::default(),
            extents,
            #[cfg(feature = "objects")]
            writer,
            #[cfg(feature = "objects")]
            reclaim: reclaim::Reclaim::new(host.random.u128()),
            counters: Default::default(),
            random: host.random,
            settings,
            broken: Default::default(),
        });
        shared.primaries.publish(primary);
        let working = shared.clone();
        runtime.spawn(async move {
            let _guard = Guard(working.broken.clone());
            let mut lanes = JoinSet::new();
            for lane in 0..working.settings.commit_lanes {
                lanes.spawn(commit::run(working.clone(), lane));
            }
            tokio::select! {
                // When the engine is closed or dropped, and everything was answered.
                _ = lanes.join_all() => {}
                () = working.primaries.watch(connection, primary, &working.clock) => {}
                () = Barrier::serve(working.clone()) => {}
                () = upkeep::run(working.clone()) => {}
                () = bytes_upkeep(working.clone()) => {}
                () = keep_clock_raised(working.clone()) => {}
            }
        });
        let mut readers = JoinSet::new();
        for lane in 0..shared.lanes.count() {
            readers.spawn(shared.clone().read_on_lane(lane));
        }
        Ok(Self { shared, origin, _readers: readers })
    }

    /// For another engine whose clock a test moves together with this one.
    pub fn origin(&self) -> (RemoteOptions, Host) {
        let (mut options, host) = self.origin.clone();
        options.offset = Some(self.shared.clock.shared_offset());
        (options, host)
    }

    pub async fn view(&self, near: Vec<Key>, opening: Opening) -> Result<(RemoteView, Stamp), EngineError> {
        RemoteView::open(&self.shared, near, opening).await
    }

    /// The caps have been judged.
    pub async fn commit(&self, txn: Txn, how: Submission) -> Result<Commit, Refusal> {
        self.shared.commit(txn, &how).await
    }

    pub async fn outcome(&self, id: TxnId) -> Result<Outcome, EngineError> {
        let shared = &self.shared;
        if timeout(PATIENCE, shared.queue.settled(id)).await.is_err() {
            return Err(EngineError::Unavailable("still under way"));
        }
        if shared.recent.lock().is_lost(id) {
            return Err(EngineError::Unknown);
        }
        if let Some(commit) = shared.recent.lock().get(id) {
            return Ok(Outcome::Committed(commit));
        }
        let version = version_of(id);
        let connection = shared.pooled(Instant::now() + PATIENCE).await?;
        let rows = connection.query(sql::Sql::Outcome, &[&Uuid(version.0)]).await?;
        let generation = connection.generation;
        shared.pool.give_back(connection);
        // A row is also seen of a commit that did not wait for its standbys to the end.
        shared.barrier.wait(generation).await?;
        for row in rows {
            let (at, refused): (i64, bool) = (row.try_get(0)?, row.try_get(1)?);
            if !refused {
                return Ok(Outcome::Committed(Commit { version, now: Ticks(at.cast_unsigned()) }));
            }
        }
        Ok(Outcome::NotCommitted)
    }

    pub fn clock(&self) -> &RemoteClock {
        &self.shared.clock
    }

    pub fn extents(&self) -> &Extents {
        &self.shared.extents
    }

    pub fn contention(&self) -> &Contention {
        &self.shared.contention
    }

    /// Commits what waits, and notes the time for those who begin later. Reading goes on.
    pub async fn close(&self) -> Result<(), EngineError> {
        let shared = &self.shared;
        let until = Instant::now() + COMMIT_PATIENCE;
        shared.queue.end();
        if timeout_at(until.into(), shared.queue.drained()).await.is_err() {
            return Err(EngineError::Unavailable("commits are under way"));
        }
        // Everything that was acknowledged is durable. What is left to say is a courtesy, and the database may be away.
        if let Err(fault) =
            timeout_at(until.into(), shared.farewell()).await.unwrap_or(Err(Fault::lost("too late")))
        {
            tracing::warn!(%fault, "the database was not told that this server leaves");
        }
        Ok(())
    }

    pub async fn forget_deletions(&self) -> Result<u64, EngineError> {
        Ok(self.shared.purge_gone().await?)
    }

    pub async fn forget_groups(&self) -> Result<(), EngineError> {
        Ok(self.shared.purge_groups().await?)
    }

    #[cfg(feature = "objects")]
    pub async fn delete_orphans(&self) -> Result<u64, EngineError> {
        match self.shared.extents.as_objects() {
            Some(objects) => self.shared.delete_orphans(objects, self.shared.reclaim.owner).await,
            None => Ok(0),
        }
    }

    #[cfg(feature = "objects")]
    pub async fn beat_writer(&self) -> Result<(), EngineError> {
        match (&self.shared.writer, self.shared.extents.as_objects()) {
            (Some(writer), Some(objects)) => Ok(self.shared.beat(writer, objects).await?),
            _ => Ok(()),
        }
    }

    pub fn stats(&self) -> EngineStats {
        self.shared.stats()
    }

    /// Why the engine works no more, and will not by itself.
    pub fn stopped(&self) -> Option<&'static str> {
        self.shared.broken.load(Relaxed).then_some("a task of the engine failed: see the log")
    }

    pub fn unready(&self) -> Option<&'static str> {
        self.shared.primaries.current().is_none().then_some("no primary of the database is proven")
    }
}

impl Shared {
    /// The caps have been judged.
    async fn commit(&self, #[allow(unused_mut)] mut txn: Txn, how: &Submission) -> Result<Commit, Refusal> {
        let now = Instant::now();
        let until =
            txn.deadline.map_or(now + COMMIT_PATIENCE, |deadline| deadline.min(now + COMMIT_PATIENCE));
        if until <= now {
            return Err(Refusal::Error(DEADLINE));
        }
        if !self.queue.is_ended() {
            self.primaries.wait(until.min(now + PATIENCE)).await.map_err(Refusal::Error)?;
        }
        if !txn.publish.is_empty() {
            let durable = timeout_at(until.into(), self.extents.durable(&txn.publish)).await;
            durable.unwrap_or(Err(DEADLINE)).map_err(Refusal::Error)?;
        }
        // Before the chunks are claimed: this server may become another writer in between. It takes the new name first and
        // the new row then, so that chunks of the old name never pass by the new row.
        #[cfg(feature = "objects")]
        if let Some(writer) = self.writer.as_ref().filter(|_| !txn.publish.is_empty()) {
            txn.checks.push(writer.check());
        }
        if !txn.publish.is_empty() && !self.extents.claim(&txn.publish) {
            return Err(Refusal::Error(EngineError::Unavailable("chunk was given up")));
        }
        let publish = txn.publish.clone();
        let (reply, mut verdict) = oneshot::channel();
        let member = Member::new(txn, how, until, &self.clock, reply);
        let stage = member.stage.clone();
        let (pushed, forgotten) = self.queue.push(member);
        if !forgotten.is_empty() {
            for member in forgotten {
                self.refuse(member, Refusal::Error(DEADLINE));
            }
            self.queue.tell_settled();
        }
        pushed.inspect_err(|_| self.extents.aborted(&publish))?;
        match timeout_at(until.into(), &mut verdict).await {
            Ok(verdict) => verdict.unwrap_or(Err(Refusal::Error(EngineError::Unknown))),
            Err(_) if stage.give_up() => Err(Refusal::Error(DEADLINE)),
            // It may have been answered in this moment.
            Err(_) => verdict.try_recv().unwrap_or(Err(Refusal::Error(EngineError::Unknown))),
        }
    }
}

impl Shared {
    async fn farewell(&self) -> Result<(), Fault> {
        let connection = self.pooled(Instant::now() + PATIENCE).await?;
        schema::note_clock(&connection, &self.settings.schema, self.clock.now()).await?;
        #[cfg(feature = "objects")]
        self.leave_writing(&connection).await?;
        self.pool.give_back(connection);
        Ok(())
    }
}

/// What servers have seen may be ahead of the database's clock: of those before this one at the start, or of all when that clock was
/// set back. Then all are told the same, as after a failover. At first the caller has to say how far a test had moved the clock, which
/// is none of the database's business. Ends when it is dropped.
async fn keep_clock_raised(shared: Arc<Shared>) {
    let mut is_due = true;
    loop {
        tokio::time::sleep(CLOCK_IS_KNOWN).await;
        is_due |= shared.clock.is_behind();
        if is_due
            && let Some(primary) = shared.primaries.current()
            && let Ok(connection) = shared.pooled(Instant::now() + PATIENCE).await
            && connection.generation == primary.generation
            && shared.primaries.raise_clock(&connection, primary, &shared.clock).await.is_ok()
        {
            shared.pool.give_back(connection);
            is_due = false;
        }
    }
}

/// Ends when it is dropped.
async fn bytes_upkeep(shared: Arc<Shared>) {
    #[cfg(feature = "objects")]
    tokio::join!(writer::run(shared.clone()), reclaim::run(shared));
    #[cfg(not(feature = "objects"))]
    {
        let _ = shared;
        std::future::pending::<()>().await;
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // What waits is committed all the same.
        self.shared.queue.end();
    }
}
