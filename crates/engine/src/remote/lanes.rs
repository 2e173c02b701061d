//! Connections that batches of keys are read through, by many at a time.

use super::connection::Connection;
use super::fault::Fault;
use super::shared::Shared;
use super::sql::Sql;
use super::uuid::Uuid;
use crate::error::EngineError;
use crate::key::{Key, Value};
use crate::txn::{Entry, Ticks, Version};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::Mutex;

pub(super) struct ReadLanes {
    /// Locked while one is opened, so that it is opened once.
    lanes: Vec<Mutex<Option<Arc<Connection>>>>,
    turn: AtomicUsize,
}

/// What one statement found: one snapshot.
pub(super) struct Batch {
    /// In the order of the keys.
    pub entries: Vec<Option<Entry>>,
    /// One of the earlier keys has another version by now.
    pub torn: bool,
    /// The clock, after the snapshot was taken.
    pub now: Ticks,
}

impl ReadLanes {
    pub fn new(count: usize) -> Self {
        Self { lanes: (0..count).map(|_| Mutex::default()).collect(), turn: AtomicUsize::new(0) }
    }
}

impl Shared {
    /// A connection to the proven primary that others use as well.
    async fn lane(&self, until: Instant) -> Result<Arc<Connection>, Fault> {
        let turn = self.lanes.turn.fetch_add(1, Ordering::Relaxed) % self.lanes.lanes.len().max(1);
        let Some(lane) = self.lanes.lanes.get(turn) else { return Err(Fault::lost("no lane")) };
        let mut lane = lane.lock().await;
        let primary = self.primaries.wait(until).await.map_err(|_| Fault::lost("no proven primary"))?;
        if let Some(open) =
            lane.as_ref().filter(|open| open.generation == primary.generation && !open.is_closed())
        {
            return Ok(open.clone());
        }
        let opened = Arc::new(self.primaries.connect(until).await?);
        *lane = Some(opened.clone());
        Ok(opened)
    }

    /// One batch, and whether what was read before is still the same. Waits for a primary, and asks again when a connection
    /// is lost: until then. Also tells which generation was read from.
    pub async fn read_batch(
        &self,
        keys: &[Key],
        earlier: &[(Key, Option<Version>)],
        until: Instant,
    ) -> Result<(Batch, u64), EngineError> {
        self.counters.batches.fetch_add(1, Ordering::Relaxed);
        loop {
            let fault = match self.lane(until).await {
                Ok(lane) => match self.read_on(&lane, keys, earlier).await {
                    Ok(batch) => return Ok((batch, lane.generation)),
                    Err(fault) => {
                        if fault.ends_connection() {
                            self.primaries.suspect(lane.generation);
                        }
                        fault
                    }
                },
                Err(fault) => fault,
            };
            if !fault.ends_connection() || Instant::now() >= until {
                return Err(fault.into());
            }
        }
    }

    pub async fn read_on(
        &self,
        connection: &Connection,
        keys: &[Key],
        earlier: &[(Key, Option<Version>)],
    ) -> Result<Batch, Fault> {
        let (fixed, seen) = self.clock.sent();
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        let (earlier, versions): (Vec<&[u8]>, Vec<Option<Uuid>>) =
            earlier.iter().map(|(key, version)| (&key[..], version.map(|version| Uuid(version.0)))).unzip();
        let rows = connection.query(Sql::Read, &[&fixed, &seen, &keys, &earlier, &versions]).await?;
        let mut batch = Batch { entries: vec![None; keys.len()], torn: false, now: Ticks(0) };
        for row in rows {
            let at: i32 = row.try_get(0)?;
            match usize::try_from(at) {
                Ok(0) => batch.now = self.clock.told(row.try_get(3)?),
                Ok(at) => {
                    let (Uuid(version), value): (Uuid, &[u8]) = (row.try_get(1)?, row.try_get(2)?);
                    if let Some(entry) = batch.entries.get_mut(at - 1) {
                        *entry =
                            Some(Entry { version: Version(version), value: Value::copy_from_slice(value) });
                    }
                }
                Err(_) => batch.torn = true,
            }
        }
        Ok(batch)
    }
}
