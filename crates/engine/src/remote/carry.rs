//! Lanes of reading: each is a task with a connection, which carries all that waits to the database in one statement, and tells
//! everybody what was found for them. A caller that has left, or does not listen, keeps nobody else waiting.

use super::connection::{Connection, Driven};
use super::fault::Fault;
use super::lanes::{Batch, Waiter};
use super::primary::PATIENCE;
use super::shared::{Guard, Shared};
use super::sql::Sql;
use super::together::{Asked, Together};
use super::uuid::Uuid;
use crate::error::EngineError;
use crate::key::Value;
use crate::txn::{Entry, Ticks, Version};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::time::timeout_at;

const NO_ANSWER: EngineError = EngineError::Unavailable("the database did not answer in time");

impl Shared {
    /// One batch, and whether what was read before is still the same. Waits for a primary, and asks again when a connection
    /// is lost or another transaction was in the way: until then. Also tells which generation was read from.
    pub async fn read_batch(&self, asked: Asked, until: Instant) -> Result<(Batch, u64), EngineError> {
        self.counters.batches.fetch_add(1, Ordering::Relaxed);
        for attempts in 0.. {
            match timeout_at(until.into(), self.lanes.push(asked.clone())?).await {
                Ok(Ok(Ok(found))) => return Ok(found),
                Ok(Ok(Err(fault))) if !fault.ends_connection() && !matches!(fault, Fault::Again) => {
                    return Err(fault.into());
                }
                Ok(_) if Instant::now() < until => self.pause(attempts).await,
                _ => break,
            }
        }
        Err(NO_ANSWER)
    }

    /// A lane, until it is dropped.
    pub async fn read_on_lane(self: Arc<Self>, lane: usize) {
        let _guard = Guard(self.broken.clone());
        let mut held = None;
        loop {
            let waiters = self.lanes.take(lane);
            if !waiters.is_empty() {
                self.carry_together(&mut held, waiters).await;
                continue;
            }
            let lost = async {
                match &mut held {
                    Some(connection) => Driven::ended(connection).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.lanes.woken(lane) => {}
                () = lost => held = None,
            }
        }
    }

    /// When the connection is lost or does not answer, those who wait find that nobody will tell them anything, and ask again.
    async fn carry_together(&self, held: &mut Option<Driven>, waiters: Vec<Waiter>) {
        // Those who wait have time to ask again on another connection.
        let until = Instant::now() + PATIENCE / 2;
        let Ok(driven) = self.connected_for_reading(held, until).await else {
            drop(waiters);
            // Another lane may have a connection: it goes first.
            return self.pause(u32::MAX).await;
        };
        let (connection, carried) = driven.parts();
        let generation = connection.generation;
        let together = Together::of(waiters.iter().map(|waiter| &waiter.asked));
        let read = self.read_together(connection, &together);
        self.counters.statements.fetch_add(1, Ordering::Relaxed);
        match carried.until(self.answered_until(until, connection, read)).await {
            Ok(batches) => {
                for (waiter, batch) in waiters.into_iter().zip(batches) {
                    let _ = waiter.told.send(Ok((batch, generation)));
                }
            }
            Err(fault) if fault.ends_connection() => *held = None,
            Err(fault) => self.carry_apart(held, waiters, fault, until).await,
        }
    }

    /// The database refused the statement, maybe for the sake of one of them: each is asked for by itself.
    async fn carry_apart(
        &self,
        held: &mut Option<Driven>,
        mut waiters: Vec<Waiter>,
        fault: Fault,
        until: Instant,
    ) {
        if waiters.len() == 1
            && let Some(waiter) = waiters.pop()
        {
            let _ = waiter.told.send(Err(fault));
        }
        for waiter in waiters {
            let Some(driven) = held else { return };
            let (connection, carried) = driven.parts();
            let generation = connection.generation;
            let read = self.read_on(connection, &waiter.asked);
            self.counters.statements.fetch_add(1, Ordering::Relaxed);
            let read = carried.until(self.answered_until(until, connection, read)).await;
            if read.as_ref().is_err_and(Fault::ends_connection) {
                *held = None;
            }
            let _ = waiter.told.send(read.map(|batch| (batch, generation)));
        }
    }

    /// The lane's connection, if it is one to the proven primary, or else a new one.
    async fn connected_for_reading<'a>(
        &self,
        held: &'a mut Option<Driven>,
        until: Instant,
    ) -> Result<&'a mut Driven, Fault> {
        let primary = self.primaries.wait(until).await.map_err(|_| Fault::lost("no proven primary"))?;
        if !held.as_ref().is_some_and(|held| held.generation() == primary.generation && !held.is_closed()) {
            *held = None;
            *held = Some(self.primaries.connect_driven(until).await?);
        }
        held.as_mut().ok_or(Fault::lost("no connection"))
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
            connection.query(Sql::Read, &[&fixed, &seen, &keys]).await?
        } else {
            let (earlier, versions): (Vec<&[u8]>, Vec<Option<Uuid>>) = together
                .earlier()
                .iter()
                .map(|(key, version)| (*key, version.map(|version| Uuid(version.0))))
                .unzip();
            connection.query(Sql::ReadAgain, &[&fixed, &seen, &keys, &earlier, &versions]).await?
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

    /// The same of what is only read: for so long. After that the connection is of no more use, because what is asked behind it would not
    /// be answered either.
    pub async fn answered_until<T>(
        &self,
        until: Instant,
        connection: &Connection,
        asked: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        connection.in_time(until, self.answered(connection, asked)).await
    }
}
