//! Objects that nothing needs are deleted: those that a commit gave back (rows `\0d`), and those that no commit ever named.
//!
//! One server does it at a time, by a lease. Two at once would do work twice and no harm. Nothing is deleted on the word of a
//! node that may not be the primary any more: a commit on the same node comes between the reading and the deleting.

use super::connection::Params;
use super::fault::Fault;
use super::member::{CHUNK_ROW, DOOMED_ROW};
use super::primary::PATIENCE;
use super::shared::Shared;
use super::uuid::Uuid;
use super::writer::{EXPIRY, WRITER_ROW, decode_beat, hour_name, hour_of, writer_key, writer_name};
use crate::backend::Submission;
use crate::error::EngineError;
use crate::key::{Key, after_prefix};
use crate::objects::{Name, ObjectExtents, SPREAD, bucket, id_of};
use crate::txn::{ChunkId, ExpectedVersion, Ticks, Txn, TxnId, Version, Write};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::Row;

const ROUND: Duration = Duration::from_secs(10);
/// Between something being given back and its deletion, so that more is deleted by one request.
const GATHERING: Duration = Duration::from_millis(500);
/// How often orphans are looked for.
const ORPHANS: Duration = Duration::from_secs(600);
const LEASE: Duration = Duration::from_secs(60);
const AT_ONCE: usize = 1_000;

pub(super) struct Reclaim {
    wanted: Notify,
    /// By which this server's leases are told from others'.
    pub owner: u128,
    pub orphans: AtomicU64,
}

impl Reclaim {
    pub fn new(owner: u128) -> Self {
        Self { wanted: Notify::new(), owner, orphans: AtomicU64::new(0) }
    }

    /// Something was given back.
    pub fn want(&self) {
        self.wanted.notify_one();
    }
}

/// Ends when it is dropped.
pub(super) async fn run(shared: Arc<Shared>) {
    let Some(extents) = shared.extents.as_objects() else { return std::future::pending().await };
    let owner = shared.reclaim.owner;
    // Servers that were started together do not look at the same time.
    let early = Duration::from_secs(shared.random.below(ORPHANS.as_secs()));
    let mut looked = Instant::now().checked_sub(early);
    loop {
        if timeout(ROUND, shared.reclaim.wanted.notified()).await.is_ok() {
            tokio::time::sleep(GATHERING).await;
        }
        if let Err(error) = shared.delete_doomed(extents, owner).await {
            tracing::debug!(%error, "what was given back is deleted later");
        }
        if looked.is_none_or(|looked| looked.elapsed() >= ORPHANS) {
            looked = Some(Instant::now());
            match shared.delete_orphans(extents, owner).await {
                Ok(0) => {}
                Ok(count) => tracing::info!(count, "objects that nothing names are deleted"),
                Err(error) => tracing::debug!(%error, "orphans are looked for later"),
            }
        }
    }
}

/// A writer as its rows tell.
struct Known {
    /// `None` when it does not live.
    version: Option<Version>,
    said: Option<(Ticks, u32)>,
}

impl Shared {
    /// Whether the job is this server's, for a while from now.
    async fn lease(&self, job: &str, owner: u128) -> Result<bool, EngineError> {
        let connection = self.pooled(Instant::now() + PATIENCE).await?;
        let schema = &self.settings.schema;
        let now = self.clock.steady();
        let until = now.0 + crate::host::clock_ticks(LEASE).0;
        let text = format!(
            "INSERT INTO \"{schema}\".setting AS old VALUES ($1, $2::bytea || $3::bytea) ON CONFLICT (name)
                DO UPDATE SET value = EXCLUDED.value
                WHERE substring(old.value FROM 1 FOR 16) = $2 OR substring(old.value FROM 17) < $4
                RETURNING 1"
        );
        let (owner, until, now) = (owner.to_be_bytes(), until.to_be_bytes(), now.0.to_be_bytes());
        let held = connection.ask(&text, &[&job, &&owner[..], &&until[..], &&now[..]]).await?;
        self.pool.give_back(connection);
        Ok(!held.is_empty())
    }

    pub(super) async fn delete_doomed(
        &self,
        extents: &ObjectExtents,
        owner: u128,
    ) -> Result<(), EngineError> {
        let schema = &self.settings.schema;
        // Eight bytes compare like the moments that they are; before they were noted there was nothing.
        let text = format!(
            "SELECT k FROM \"{schema}\".kv WHERE k > $1 AND k < $2 AND v <= $3 ORDER BY k LIMIT {AT_ONCE}"
        );
        let retention = crate::host::clock_ticks(extents.retention()).0;
        let due = self.clock.steady().0.saturating_sub(retention).to_be_bytes();
        // Each page begins behind the one before: what cannot be deleted now is passed over.
        let mut from = Key::from_static(DOOMED_ROW);
        loop {
            if !self.lease("job doomed", owner).await? {
                return Ok(());
            }
            let keys = self.keys(&text, &[&&from[..], &&after(DOOMED_ROW)[..], &&due[..]]).await?;
            let ids: Vec<ChunkId> = keys.iter().filter_map(|key| chunk_of(key, DOOMED_ROW)).collect();
            let gone = extents.requests().delete(&ids).await;
            let rows: Vec<Key> = gone.iter().map(|id| row(DOOMED_ROW, *id)).collect();
            let rows: Vec<&[u8]> = rows.iter().map(|row| &row[..]).collect();
            self.ask(&format!("DELETE FROM \"{schema}\".kv WHERE k = ANY ($1)"), &[&rows]).await?;
            match keys.last() {
                // A store that deletes nothing at all is asked again later.
                Some(last) if keys.len() == AT_ONCE && !gone.is_empty() => from = last.clone(),
                _ => return Ok(()),
            }
        }
    }

    /// Looks through the hours that no writer writes to any more. Returns how many objects were deleted.
    pub(super) async fn delete_orphans(
        &self,
        extents: &ObjectExtents,
        owner: u128,
    ) -> Result<u64, EngineError> {
        const JOB: &str = "job orphans";
        if !self.lease(JOB, owner).await? {
            return Ok(0);
        }
        let now = self.clock.steady();
        self.bury_writers(now).await?;
        let writers = self.writers().await?;
        let mut deleted = 0;
        for hour in self.hours().await? {
            let writes = |known: &Known| {
                known.version.is_some() && known.said.is_none_or(|(_, announced)| announced <= hour)
            };
            if hour + 1 >= hour_of(now) || writers.values().any(writes) {
                continue;
            }
            let lives = |id: &ChunkId| {
                let writer = writers.get(&Name::unpack(*id).incarnation);
                writer.is_some_and(|known| known.version.is_some())
            };
            // Chunks of writers that live may still be published: the hour is looked through again.
            let (kept, gone) = (Mutex::new(0_u64), Mutex::new(0_u64));
            for spread in 0..SPREAD {
                if spread % 16 == 0 && !self.lease(JOB, owner).await? {
                    return Ok(deleted);
                }
                let look = |found: Vec<object_store::path::Path>| {
                    let (kept, gone) = (&kept, &gone);
                    async move {
                        let ids = found.iter().filter_map(id_of).collect();
                        let (living, dead): (Vec<_>, Vec<_>) =
                            self.unnamed(ids).await?.into_iter().partition(lives);
                        *kept.lock() += living.len() as u64;
                        *gone.lock() += extents.requests().delete(&dead).await.len() as u64;
                        Ok(())
                    }
                };
                extents.requests().list(&bucket(spread, hour), AT_ONCE, look).await?;
            }
            deleted += *gone.lock();
            self.reclaim.orphans.fetch_add(*gone.lock(), Relaxed);
            if *kept.lock() == 0 {
                self.ask(
                    &format!("DELETE FROM \"{}\".setting WHERE name = $1", self.settings.schema),
                    &[&hour_name(hour)],
                )
                .await?;
            }
        }
        Ok(deleted)
    }

    /// Of these chunks those that no row names. A writer that was dead before this is asked will not name them later.
    async fn unnamed(&self, mut ids: Vec<ChunkId>) -> Result<Vec<ChunkId>, EngineError> {
        let keys: Vec<Key> = ids.iter().flat_map(|id| [row(CHUNK_ROW, *id), row(DOOMED_ROW, *id)]).collect();
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        let text = format!("SELECT k FROM \"{}\".kv WHERE k = ANY ($1)", self.settings.schema);
        let named: std::collections::HashSet<ChunkId> = self
            .keys(&text, &[&keys])
            .await?
            .iter()
            .filter_map(|key| chunk_of(key, CHUNK_ROW).or_else(|| chunk_of(key, DOOMED_ROW)))
            .collect();
        ids.retain(|id| !named.contains(id));
        Ok(ids)
    }

    /// Writers that said nothing for long are dead from now on: by a commit, which no commit of theirs can pass.
    async fn bury_writers(&self, now: Ticks) -> Result<(), EngineError> {
        for (incarnation, known) in self.writers().await? {
            if known.said.is_some_and(|(said, _)| said.0 + EXPIRY >= now.0) {
                continue;
            }
            if let Some(version) = known.version {
                let mut txn = Txn::new(TxnId(self.random.u128()));
                txn.checks.push((writer_key(incarnation), ExpectedVersion::Version(version)));
                txn.writes.push(Write::Delete(writer_key(incarnation)));
                self.commit(txn, &Submission { size: 64, read_at: None, gives_back: true })
                    .await
                    .map_err(EngineError::from)?;
                tracing::info!(incarnation, "a server that wrote objects is taken for dead");
            }
            let text = format!("DELETE FROM \"{}\".setting WHERE name = $1", self.settings.schema);
            self.ask(&text, &[&writer_name(incarnation)]).await?;
        }
        Ok(())
    }

    async fn writers(&self) -> Result<HashMap<u32, Known>, EngineError> {
        let schema = &self.settings.schema;
        let text = format!(
            "SELECT name, value, NULL::uuid, NULL::bytea FROM \"{schema}\".setting WHERE name LIKE 'writer %'
                UNION ALL SELECT NULL, NULL, ver, k FROM \"{schema}\".kv WHERE k > $1 AND k < $2"
        );
        let mut writers: HashMap<u32, Known> = HashMap::new();
        for row in self.ask(&text, &[&WRITER_ROW, &&after(WRITER_ROW)[..]]).await? {
            let name: Option<&str> = row.try_get(0).map_err(Fault::from)?;
            let key: Option<&[u8]> = row.try_get(3).map_err(Fault::from)?;
            let named = name.and_then(|name| u32::from_str_radix(name.strip_prefix("writer ")?, 16).ok());
            let keyed =
                key.and_then(|key| key.strip_prefix(WRITER_ROW)?.try_into().ok()).map(u32::from_be_bytes);
            let Some(incarnation) = named.or(keyed) else { continue };
            let known = writers.entry(incarnation).or_insert(Known { version: None, said: None });
            if named.is_some() {
                let value: Option<&[u8]> = row.try_get(1).map_err(Fault::from)?;
                known.said = value.and_then(decode_beat);
            } else {
                let version: Option<Uuid> = row.try_get(2).map_err(Fault::from)?;
                known.version = version.map(|version| Version(version.0));
            }
        }
        Ok(writers)
    }

    async fn hours(&self) -> Result<Vec<u32>, EngineError> {
        let text = format!(
            "SELECT name FROM \"{}\".setting WHERE name LIKE 'hour %' ORDER BY name",
            self.settings.schema
        );
        let rows = self.ask(&text, &[]).await?;
        let hour = |row: &Row| {
            let name: &str = row.try_get(0).ok()?;
            u32::from_str_radix(name.strip_prefix("hour ")?, 16).ok()
        };
        Ok(rows.iter().filter_map(hour).collect())
    }

    /// What the primary says, and has confirmed since.
    async fn ask(&self, text: &str, params: Params<'_>) -> Result<Vec<Row>, EngineError> {
        let connection = self.pooled(Instant::now() + PATIENCE).await?;
        let generation = connection.generation;
        let rows = connection.ask(text, params).await?;
        self.pool.give_back(connection);
        self.barrier.wait(generation).await?;
        Ok(rows)
    }

    async fn keys(&self, text: &str, params: Params<'_>) -> Result<Vec<Key>, EngineError> {
        let rows = self.ask(text, params).await?;
        rows.iter().map(|row| Ok(Key::copy_from_slice(row.try_get(0).map_err(Fault::from)?))).collect()
    }
}

/// The first key behind all that begin like this.
fn after(prefix: &[u8]) -> Key {
    after_prefix(prefix).unwrap_or_default()
}

fn row(prefix: &[u8], id: ChunkId) -> Key {
    [prefix, &id.0.to_be_bytes()].concat().into()
}

fn chunk_of(key: &[u8], prefix: &[u8]) -> Option<ChunkId> {
    Some(ChunkId(u128::from_be_bytes(key.strip_prefix(prefix)?.try_into().ok()?)))
}
