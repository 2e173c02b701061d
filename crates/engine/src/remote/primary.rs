//! Which node is the primary.
//!
//! That a node accepts writes does not say so: a former primary whose agent died stays read-write, hangs on commits and
//! serves what is old for as long as it is asked. So of the nodes that are not in recovery the one with the highest timeline
//! is taken, never one with a lower timeline than was seen before, and it proves itself by a commit, which waits for as
//! many standbys as the database is set to wait for.

use super::clock::RemoteClock;
use super::connection::{Connection, Driven};
use super::fault::Fault;
use super::options::ConnectError;
use super::schema;
use super::settings::{Node, Settings};
use crate::error::EngineError;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

/// How long a request waits while no node is proven.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// A new primary has so long to prove itself.
const PROOF: Duration = Duration::from_secs(2);
/// One that is proven has so long to do it again.
const HEARTBEAT_PATIENCE: Duration = Duration::from_secs(3);
const HEARTBEAT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

const ASK: &str = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";
const TIMELINE: &str = "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int";

/// A node that has proven itself. A generation ends when another node or another timeline takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Primary {
    pub generation: u64,
    pub node: usize,
    pub timeline: i32,
}

pub(super) struct Primaries {
    settings: Arc<Settings>,
    runtime: Handle,
    proven: watch::Sender<Option<Primary>>,
    suspected: Notify,
    /// What was seen of the cluster, so that another is not taken for it.
    seen: Mutex<Seen>,
    /// When a commit last succeeded: then no heartbeat is needed.
    committed: Mutex<Instant>,
}

#[derive(Clone, Default)]
struct Seen {
    last: Option<Primary>,
    /// The value of the setting `cluster`.
    cluster: Option<Vec<u8>>,
}

impl Primaries {
    pub fn new(settings: Arc<Settings>, runtime: Handle) -> Self {
        Self {
            settings,
            runtime,
            proven: watch::Sender::new(None),
            suspected: Notify::new(),
            seen: Mutex::default(),
            committed: Mutex::new(Instant::now()),
        }
    }

    pub fn current(&self) -> Option<Primary> {
        *self.proven.borrow()
    }

    /// The generation of the primary that was proven last, whether or not it is at the moment.
    pub fn latest_generation(&self) -> u64 {
        self.seen.lock().last.map_or(0, |last| last.generation)
    }

    /// The proven primary, waited for until then.
    pub async fn wait(&self, until: Instant) -> Result<Primary, EngineError> {
        if let Some(primary) = self.current() {
            return Ok(primary);
        }
        let mut proven = self.proven.subscribe();
        let waited = tokio::time::timeout_at(until.into(), proven.wait_for(Option::is_some)).await;
        match waited {
            Ok(Ok(primary)) => primary.ok_or(NO_PRIMARY),
            _ => Err(NO_PRIMARY),
        }
    }

    /// A connection to the proven primary.
    pub async fn connect(&self, until: Instant) -> Result<Connection, Fault> {
        let lost = |_| Fault::lost("no proven primary");
        let primary = self.wait(until).await.map_err(lost)?;
        let opened = self.open(primary.node, primary.generation).await;
        self.noted(primary, opened)
    }

    /// A connection to the proven primary whose messages the caller moves itself.
    pub async fn connect_driven(&self, until: Instant) -> Result<Driven, Fault> {
        let primary = self.wait(until).await.map_err(|_| Fault::lost("no proven primary"))?;
        let Some(node) = self.settings.nodes.get(primary.node) else {
            return Err(Fault::lost("no such node"));
        };
        let opened = Driven::open(&self.runtime, &self.settings, node, primary.generation).await;
        self.noted(primary, opened)
    }

    /// A node that cannot be reached is suspect, and one that takes no more connections is not.
    fn noted<T>(&self, primary: Primary, opened: Result<T, Fault>) -> Result<T, Fault> {
        if !matches!(opened, Ok(_) | Err(Fault::Crowded)) {
            self.suspect(primary.generation);
        }
        opened
    }

    /// Sees to it that `held` is a connection to the proven primary, and opens another one where it is not.
    pub async fn renew(&self, held: &mut Option<Connection>, until: Instant) -> Result<(), Fault> {
        // While the primary proves itself again, its connections are kept: others may not be to be had.
        let primary = self.wait(until).await.map_err(|_| Fault::lost("no proven primary"))?;
        let usable = |held: &Connection| held.generation == primary.generation && !held.is_closed();
        if !held.as_ref().is_some_and(usable) {
            *held = None;
            *held = Some(self.connect(until).await?);
        }
        Ok(())
    }

    /// Returns when this generation has ended and another is proven.
    pub async fn succeeded(&self, generation: u64) {
        let mut proven = self.proven.subscribe();
        let newer =
            |primary: &Option<Primary>| primary.is_some_and(|primary| primary.generation != generation);
        if proven.wait_for(newer).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Something on a connection of this generation failed: the primary has to prove itself again.
    pub fn suspect(&self, generation: u64) {
        if self.withdraw(generation) {
            self.suspected.notify_one();
        }
    }

    /// Nothing is sent to this one any more. False when it was not relied on anyway.
    fn withdraw(&self, generation: u64) -> bool {
        let withdraw = |primary: &mut Option<Primary>| {
            let concerned = primary.is_some_and(|primary| primary.generation == generation);
            if concerned {
                *primary = None;
            }
            concerned
        };
        self.proven.send_if_modified(withdraw)
    }

    /// A commit succeeded just now.
    pub fn committed(&self) {
        *self.committed.lock() = Instant::now();
    }

    /// From now on only this cluster is taken.
    pub fn remember_cluster(&self, cluster: Vec<u8>) {
        self.seen.lock().cluster = Some(cluster);
    }

    async fn open(&self, node: usize, generation: u64) -> Result<Connection, Fault> {
        let Some(node) = self.settings.nodes.get(node) else { return Err(Fault::lost("no such node")) };
        Connection::open(&self.runtime, &self.settings, node, generation).await
    }

    /// The first choice, at the start: nothing is published yet.
    pub async fn first(&self, patience: Duration) -> Result<(Connection, Primary), ConnectError> {
        let until = Instant::now() + patience;
        loop {
            let why = match self.choose().await {
                Ok(chosen) => return Ok(chosen),
                Err(why) => why,
            };
            if Instant::now() + PAUSE >= until {
                return Err(ConnectError::NoPrimary(why));
            }
            sleep(PAUSE).await;
        }
    }

    /// Keeps proving the primary and chooses another when it fails. Ends when it is dropped.
    pub async fn watch(&self, connection: Connection, primary: Primary, clock: &RemoteClock) {
        let mut held = Some((connection, primary));
        let mut pause = PAUSE;
        loop {
            let Some((connection, primary)) = held.take() else {
                match self.choose_for(clock).await {
                    Ok(chosen) => held = Some(chosen),
                    Err(why) => {
                        tracing::warn!(why, "no database proves to be the primary");
                        sleep(pause).await;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                }
                continue;
            };
            pause = PAUSE;
            self.publish(primary);
            let is_suspected = self.attend(&connection).await;
            // The watch itself chooses the next one. A notice that is left would end that one's time as soon as it begins.
            self.withdraw(primary.generation);
            // One that can still make a commit on this connection has proven itself again; a new connection may not be to be had.
            if is_suspected && matches!(timeout(PROOF, connection.prove()).await, Ok(Ok(()))) {
                held = Some((connection, primary));
            }
        }
    }

    pub fn publish(&self, primary: Primary) {
        let before = self.seen.lock().last.replace(primary);
        if before.is_none_or(|before| before.generation != primary.generation) {
            let node = self.settings.nodes.get(primary.node).map_or("", |node| &node.name);
            tracing::info!(node, timeline = primary.timeline, "the primary is proven");
        }
        self.committed();
        self.proven.send_replace(Some(primary));
    }

    /// Returns when the primary is in doubt: whether because something on another connection failed.
    async fn attend(&self, connection: &Connection) -> bool {
        loop {
            if timeout(HEARTBEAT, self.suspected.notified()).await.is_ok() {
                return true;
            }
            if self.committed.lock().elapsed() < HEARTBEAT {
                continue;
            }
            match timeout(HEARTBEAT_PATIENCE, connection.prove()).await {
                Ok(Ok(())) => self.committed(),
                Ok(Err(fault)) => {
                    tracing::warn!(%fault, "the primary failed");
                    return false;
                }
                Err(_) => {
                    tracing::warn!("the primary does not commit");
                    return false;
                }
            }
        }
    }

    /// Another one, whose clock is not behind.
    async fn choose_for(&self, clock: &RemoteClock) -> Result<(Connection, Primary), String> {
        let (connection, primary) = self.choose().await?;
        // What was checked of the first one at the start holds for each.
        schema::check(&connection, &self.settings).await.map_err(|why| why.to_string())?;
        match timeout(PROOF, self.raise_clock(&connection, primary, clock)).await {
            Ok(Ok(())) => Ok((connection, primary)),
            Ok(Err(fault)) => Err(fault.to_string()),
            Err(_) => Err("its clock cannot be set".into()),
        }
    }

    pub async fn raise_clock(
        &self,
        connection: &Connection,
        primary: Primary,
        clock: &RemoteClock,
    ) -> Result<(), Fault> {
        match clock.sent() {
            // A test's clock stands still, and the database takes the server's word for it.
            (true, _) => Ok(()),
            (false, seen) => {
                let is_moved = clock.offset().0 > 0;
                schema::raise_clock(connection, &self.settings.schema, primary.timeline, seen, is_moved).await
            }
        }
    }

    /// Asks every node, takes the one that can be the primary, and lets it prove itself.
    async fn choose(&self) -> Result<(Connection, Primary), String> {
        let seen = self.seen.lock().clone();
        let mut asked = tokio::task::JoinSet::new();
        for (at, node) in self.settings.nodes.iter().enumerate() {
            let (runtime, settings, node, seen) =
                (self.runtime.clone(), self.settings.clone(), node.clone(), seen.clone());
            let ask = async move {
                let found = ask(&runtime, &settings, &node, at, &seen).await;
                found.map_err(|fault| format!("{}: {fault}", node.name))
            };
            asked.spawn_on(ask, &self.runtime);
        }
        let (mut best, mut why): (Option<(Connection, Primary)>, Vec<String>) = (None, Vec::new());
        while let Some(found) = asked.join_next().await {
            match found {
                Ok(Ok(found)) if best.as_ref().is_none_or(|best| best.1.timeline < found.1.timeline) => {
                    best = Some(found);
                }
                Ok(Ok(_)) => {}
                Ok(Err(reason)) => why.push(reason),
                Err(_) => why.push("the runtime is shutting down".into()),
            }
        }
        let Some((connection, primary)) = best else { return Err(why.join("; ")) };
        match timeout(PROOF, connection.prove()).await {
            Ok(Ok(())) => Ok((connection, primary)),
            Ok(Err(fault)) => Err(fault.to_string()),
            Err(_) => Err("its commits do not return: are its synchronous standbys there?".into()),
        }
    }
}

pub(super) const NO_PRIMARY: EngineError = EngineError::Unavailable("no primary is proven");

/// A node as it may be the primary; a fault when it cannot be.
async fn ask(
    runtime: &Handle,
    settings: &Arc<Settings>,
    node: &Node,
    at: usize,
    seen: &Seen,
) -> Result<(Connection, Primary), Fault> {
    let generation = seen.last.map_or(1, |last| last.generation);
    let mut connection = Connection::open(runtime, settings, node, generation).await?;
    let answers = async {
        let found = connection.ask(ASK, &[]).await?;
        let is = |column| found.first().is_some_and(|row| row.try_get(column).unwrap_or(true));
        if is(0) || is(1) {
            return Err(Fault::NotPrimary);
        }
        let timeline = timeline(&connection).await?;
        if seen.last.is_some_and(|last| timeline < last.timeline) {
            return Err(Fault::lost("its timeline is behind one that was seen"));
        }
        if let Some(known) = &seen.cluster {
            let text = format!("SELECT value FROM \"{}\".setting WHERE name = 'cluster'", settings.schema);
            let found = connection.ask(&text, &[]).await?;
            let cluster: Option<&[u8]> = found.first().and_then(|row| row.try_get(0).ok());
            if cluster != Some(known) {
                return Err(Fault::lost("another cluster"));
            }
        }
        Ok(timeline)
    };
    let timeline = match timeout(PROOF, answers).await {
        Ok(answers) => answers?,
        Err(_) => return Err(Fault::lost("it does not answer")),
    };
    let same = seen.last.filter(|last| (last.node, last.timeline) == (at, timeline));
    let primary = Primary {
        generation: if same.is_some() || seen.last.is_none() { generation } else { generation + 1 },
        node: at,
        timeline,
    };
    connection.generation = primary.generation;
    Ok((connection, primary))
}

/// 0 where the database knows no timelines.
async fn timeline(connection: &Connection) -> Result<i32, Fault> {
    match connection.ask(TIMELINE, &[]).await {
        Ok(rows) => Ok(rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or_default()),
        Err(Fault::Unexpected(_)) => Ok(0),
        Err(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests;
