//! Batches of keys on their way to the database and back.
//!
//! Whoever finds a lane free asks by itself, which takes no change of tasks. What waits is carried by tasks of the engine: a
//! caller that is slow to listen, or has left, keeps nobody else from being answered.

use super::connection::Connection;
use super::fault::Fault;
use super::lanes::{Batch, Busy, Entered, Next, Told, Waiter};
use super::primary::PATIENCE;
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
use tokio::task::JoinSet;
use tokio::time::{timeout, timeout_at};

/// What waits does not wait longer for lanes that are busy: a few times what a statement takes.
const STALLED: Duration = Duration::from_millis(10);

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
                Entered::Has(busy) => self.read_alone(&busy, &asked, until).await,
                Entered::Waits(tells) => match timeout_at(until.into(), tells).await {
                    Ok(told) => told.unwrap_or_else(|_| Err(Fault::lost("the statement was given up"))),
                    Err(_) => break,
                },
            };
            match told {
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

    /// Carries what waits, until it is dropped.
    pub async fn carry_batches(self: Arc<Self>) {
        let mut under_way = JoinSet::new();
        loop {
            self.lanes.wanted.notified().await;
            loop {
                match self.lanes.next() {
                    Next::Nothing => break,
                    Next::Carry(busy, waiters) => {
                        under_way.spawn(self.clone().carry_on_lane(busy, waiters));
                    }
                    Next::AllBusy(since) => {
                        if timeout(STALLED, self.lanes.wanted.notified()).await.is_err() {
                            self.lanes.give_up(since);
                        }
                    }
                }
                while under_way.try_join_next().is_some() {}
            }
        }
    }

    /// One statement after the other, while something waits.
    async fn carry_on_lane(self: Arc<Self>, busy: Busy, mut waiters: Vec<Waiter>) {
        while !waiters.is_empty() {
            self.carry_together(&busy, waiters).await;
            waiters = self.lanes.take(&busy);
        }
    }

    /// When the connection is lost or does not answer, those who wait find that nobody will tell them anything, and ask again.
    async fn carry_together(self: &Arc<Self>, busy: &Busy, waiters: Vec<Waiter>) {
        let until = Instant::now() + PATIENCE;
        let Ok(connection) = self.lane_connection(busy, until).await else { return };
        let generation = connection.generation;
        let together = Together::of(waiters.iter().map(|waiter| &waiter.asked));
        match self.on_lane(busy, until, self.read_together(&connection, &together)).await {
            Ok(batches) => {
                for (waiter, batch) in waiters.into_iter().zip(batches) {
                    let _ = waiter.told.send(Ok((batch, generation)));
                }
            }
            Err(fault) if fault.ends_connection() => {}
            // Maybe for the sake of one of them: each is told what becomes of its own.
            Err(_) => {
                for waiter in waiters {
                    let told = self.read_alone(busy, &waiter.asked, until).await;
                    if told.as_ref().is_err_and(Fault::ends_connection) {
                        return;
                    }
                    let _ = waiter.told.send(told);
                }
            }
        }
    }

    async fn read_alone(self: &Arc<Self>, busy: &Busy, asked: &Asked, until: Instant) -> Told {
        let connection = self.lane_connection(busy, until).await?;
        let batch = self.on_lane(busy, until, self.read_on(&connection, asked)).await?;
        Ok((batch, connection.generation))
    }

    /// The lane's connection, if it is one to the proven primary, or else a new one.
    async fn lane_connection(&self, busy: &Busy, until: Instant) -> Result<Arc<Connection>, Fault> {
        let primary = self.primaries.wait(until).await.map_err(|_| Fault::lost("no proven primary"))?;
        let usable = |open: &Arc<Connection>| open.generation == primary.generation && !open.is_closed();
        if let Some(open) = self.lanes.connection(busy.lane).filter(usable) {
            return Ok(open);
        }
        let opened = Arc::new(self.primaries.connect(until).await?);
        self.lanes.set_connection(busy.lane, Some(opened.clone()));
        Ok(opened)
    }

    /// A statement on a lane. One that is not answered in time takes its connection with it: what is asked behind it would
    /// not be answered either.
    async fn on_lane<T>(
        &self,
        busy: &Busy,
        until: Instant,
        read: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        self.counters.statements.fetch_add(1, Ordering::Relaxed);
        let read = timeout_at(until.into(), read).await;
        let read = read.unwrap_or_else(|_| Err(Fault::lost("no answer in time")));
        if read.as_ref().is_err_and(Fault::ends_connection) {
            self.lanes.set_connection(busy.lane, None);
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
