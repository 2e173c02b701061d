//! Batches of keys on their way to the database and back.
//!
//! Whoever has a lane asks for its own batch and for all that waits by then, in one statement, and tells the others what was found
//! for them. When it fails, leaves, or is not heard of for long, the others ask again.

use super::connection::Connection;
use super::fault::Fault;
use super::lanes::{Batch, Busy, Entered, Told};
use super::shared::Shared;
use super::sql::Sql;
use super::together::{Asked, Together};
use super::uuid::Uuid;
use crate::error::EngineError;
use crate::key::Value;
use crate::txn::{Entry, Ticks, Version};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::time::timeout_at;

/// Whoever waits for another's statement asks again after this time.
const ASKS_AGAIN: Duration = Duration::from_millis(100);

const NO_ANSWER: EngineError = EngineError::Unavailable("the database did not answer in time");

impl Shared {
    /// One batch, and whether what was read before is still the same. Waits for a primary, and asks again when a connection
    /// is lost or another transaction was in the way: until then. Also tells which generation was read from.
    pub async fn read_batch(
        self: &Arc<Self>,
        asked: Asked,
        until: Instant,
    ) -> Result<(Batch, u64), EngineError> {
        self.counters.batches.fetch_add(1, Ordering::Relaxed);
        for attempts in 0.. {
            let told = match self.lanes.enter(&asked)? {
                Entered::Has(busy) => Ok(Told::Lead(busy)),
                Entered::Waits(tells) => {
                    let again = until.min(Instant::now() + ASKS_AGAIN);
                    match timeout_at(again.into(), tells).await {
                        Ok(told) => told.map_err(|_| Fault::lost("the statement was given up")),
                        Err(_) if again < until => continue,
                        Err(_) => break,
                    }
                }
            };
            let read = match told {
                Ok(Told::Found(batch, generation)) => return Ok((batch, generation)),
                Ok(Told::Lead(busy)) => self.lead(busy, &asked, until).await,
                Ok(Told::Alone(lane)) => self.read_alone(lane, &asked, until).await,
                Err(fault) => Err(fault),
            };
            match read {
                Ok(found) => return Ok(found),
                Err(fault) if fault.ends_connection() || matches!(fault, Fault::Again) => {}
                Err(fault) => return Err(fault.into()),
            }
            if Instant::now() >= until {
                break;
            }
            self.pause(attempts).await;
        }
        Err(NO_ANSWER)
    }

    /// Carries this batch, and all that waits by now.
    async fn lead(&self, busy: Busy, asked: &Asked, until: Instant) -> Result<(Batch, u64), Fault> {
        let lane = busy.lane;
        let connection = self.lane_connection(lane, until).await?;
        let others = self.lanes.take(asked.size());
        if others.is_empty() {
            return self.read_alone(lane, asked, until).await;
        }
        let together = Together::of(std::iter::once(asked).chain(others.iter().map(|waiter| &waiter.asked)));
        match self.on_lane(lane, until, self.read_together(&connection, &together)).await {
            Ok(mut batches) => {
                drop(busy);
                let generation = connection.generation;
                let own = batches.next().ok_or(Fault::lost("no batch was read"))?;
                for (waiter, batch) in others.into_iter().zip(batches) {
                    let _ = waiter.told.send(Told::Found(batch, generation));
                }
                Ok((own, generation))
            }
            // The others ask again when they find that nobody will tell them anything.
            Err(fault) if fault.ends_connection() => Err(fault),
            Err(_) => {
                drop(busy);
                for waiter in others {
                    let _ = waiter.told.send(Told::Alone(lane));
                }
                self.read_alone(lane, asked, until).await
            }
        }
    }

    async fn read_alone(&self, lane: usize, asked: &Asked, until: Instant) -> Result<(Batch, u64), Fault> {
        let connection = self.lane_connection(lane, until).await?;
        let batch = self.on_lane(lane, until, self.read_on(&connection, asked)).await?;
        Ok((batch, connection.generation))
    }

    /// The lane's connection, if it is one to the proven primary, or else a new one.
    async fn lane_connection(&self, lane: usize, until: Instant) -> Result<Arc<Connection>, Fault> {
        let primary = self.primaries.wait(until).await.map_err(|_| Fault::lost("no proven primary"))?;
        let usable = |open: &Arc<Connection>| open.generation == primary.generation && !open.is_closed();
        if let Some(open) = self.lanes.connection(lane).filter(usable) {
            return Ok(open);
        }
        let opened = Arc::new(self.primaries.connect(until).await?);
        self.lanes.set_connection(lane, Some(opened.clone()));
        Ok(opened)
    }

    /// A statement on a lane. One that is not answered in time takes its connection with it: what is asked behind it would
    /// not be answered either.
    async fn on_lane<T>(
        &self,
        lane: usize,
        until: Instant,
        read: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        self.counters.statements.fetch_add(1, Ordering::Relaxed);
        let read = timeout_at(until.into(), read).await;
        let read = read.unwrap_or_else(|_| Err(Fault::lost("no answer in time")));
        if read.as_ref().is_err_and(Fault::ends_connection) {
            self.lanes.set_connection(lane, None);
        }
        read
    }

    pub async fn read_on(&self, connection: &Connection, asked: &Asked) -> Result<Batch, Fault> {
        let one = Together::of(std::iter::once(asked));
        let mut batches = self.read_together(connection, &one).await?;
        batches.next().ok_or(Fault::lost("no batch was read"))
    }

    /// One statement: the batches in the order in which they were put together.
    async fn read_together(
        &self,
        connection: &Connection,
        together: &Together<'_>,
    ) -> Result<std::vec::IntoIter<Batch>, Fault> {
        let (fixed, seen) = self.clock.sent();
        let keys = together.keys();
        let rows = if together.earlier().is_empty() {
            self.answered(connection, connection.query(Sql::Read, &[&fixed, &seen, &keys])).await?
        } else {
            let (earlier, versions): (Vec<&[u8]>, Vec<Option<Uuid>>) = together
                .earlier()
                .iter()
                .map(|(key, version)| (*key, version.map(|version| Uuid(version.0))))
                .unzip();
            let asked: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
                [&fixed, &seen, &keys, &earlier, &versions];
            self.answered(connection, connection.query(Sql::ReadAgain, &asked)).await?
        };
        let mut found = vec![None; keys.len()];
        let (mut changed, mut now) = (Vec::new(), Ticks(0));
        for row in rows {
            let at: i32 = row.try_get(0)?;
            match usize::try_from(at) {
                Ok(0) => now = self.clock.told(row.try_get(3)?),
                Ok(at) => {
                    let (Uuid(version), value): (Uuid, &[u8]) = (row.try_get(1)?, row.try_get(2)?);
                    if let Some(entry) = found.get_mut(at - 1) {
                        *entry =
                            Some(Entry { version: Version(version), value: Value::copy_from_slice(value) });
                    }
                }
                Err(_) => changed.push(at.unsigned_abs() as usize - 1),
            }
        }
        Ok(together.split(&found, &changed, now).into_iter())
    }

    /// What is asked of a node, unless another one takes its place meanwhile: a former primary may never answer. One whose
    /// connection was lost is suspect.
    pub async fn answered<T>(
        &self,
        connection: &Connection,
        asked: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let generation = connection.generation;
        let answer = tokio::select! {
            biased;
            answer = asked => answer,
            () = self.primaries.succeeded(generation) => Err(Fault::lost("another primary")),
        };
        if answer.as_ref().is_err_and(Fault::ends_connection) {
            self.primaries.suspect(generation);
        }
        answer
    }
}
