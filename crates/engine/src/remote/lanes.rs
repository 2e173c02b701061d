//! Connections that batches of keys are read through, a statement at a time on each.
//!
//! What is asked for while every lane is busy goes together: the next free lane carries all of it in one statement, which costs
//! the database little more than one batch does. No task stands behind a lane: one of those who ask leads it, and tells
//! the others what was found for them. When the leader fails or is dropped, the others ask again.

use super::connection::Connection;
use super::fault::Fault;
use super::shared::Shared;
use super::sql::Sql;
use super::together::{Asked, Together};
use super::uuid::Uuid;
use crate::error::EngineError;
use crate::key::Value;
use crate::txn::{Entry, Ticks, Version};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::sync::oneshot;
use tokio::time::timeout_at;

/// Batches that go together, and keys of them.
const TOGETHER: usize = 64;
const KEYS_TOGETHER: usize = 512;

pub(super) struct ReadLanes(Mutex<State>);

struct State {
    /// The lanes that are free, each with its connection once that was opened.
    free: Vec<Option<Box<Connection>>>,
    waiting: VecDeque<Waiter>,
}

/// A batch that waits for a lane.
struct Waiter {
    asked: Asked,
    told: oneshot::Sender<Told>,
}

enum Told {
    /// It has the lane now, and carries what waits.
    Lead(Lane),
    /// What was found, and on which generation.
    Found(Batch, u64),
    /// The database refused the statement that carried it, maybe for another's sake: each goes alone.
    Apart,
}

/// A lane in use. When it is dropped the next who waits has it.
struct Lane {
    shared: Arc<Shared>,
    connection: Option<Box<Connection>>,
    /// It was handed on.
    handed: bool,
}

/// What one statement found: one snapshot.
#[derive(Debug)]
pub(super) struct Batch {
    /// In the order of the keys.
    pub entries: Vec<Option<Entry>>,
    /// One of the earlier keys has another version by now.
    pub torn: bool,
    /// The clock, after the snapshot was taken.
    pub now: Ticks,
}

enum Entered {
    Leads(Lane),
    Waits(oneshot::Receiver<Told>),
}

impl ReadLanes {
    pub fn new(count: usize) -> Self {
        let free = (0..count).map(|_| None).collect();
        Self(Mutex::new(State { free, waiting: VecDeque::new() }))
    }

    /// What waits and goes together with a batch of this size.
    fn take(&self, mut size: usize) -> Vec<Waiter> {
        let mut state = self.0.lock();
        let mut taken = Vec::new();
        while taken.len() + 1 < TOGETHER
            && let Some(next) = state.waiting.front()
        {
            size += next.asked.size();
            if size > KEYS_TOGETHER {
                break;
            }
            let next = state.waiting.pop_front();
            taken.extend(next.filter(|waiter| !waiter.told.is_closed()));
        }
        taken
    }
}

impl Lane {
    /// Sees to it that there is a connection to the proven primary.
    async fn connect(&mut self, until: Instant) -> Result<&Connection, Fault> {
        let primaries = &self.shared.primaries;
        let primary = primaries.wait(until).await.map_err(|_| Fault::lost("no proven primary"))?;
        let usable = |open: &Connection| open.generation == primary.generation && !open.is_closed();
        if !self.connection.as_deref().is_some_and(usable) {
            self.connection = None;
            self.connection = Some(Box::new(primaries.connect(until).await?));
        }
        self.connection.as_deref().ok_or(Fault::lost("no connection"))
    }

    /// The next who waits has the lane, or it is free.
    fn hand_on(&mut self) {
        let mut connection = self.connection.take();
        loop {
            let waiter = {
                let mut state = self.shared.lanes.0.lock();
                match state.waiting.pop_front() {
                    Some(waiter) => waiter,
                    None => return state.free.push(connection),
                }
            };
            let lane = Self { shared: self.shared.clone(), connection, handed: false };
            match waiter.told.send(Told::Lead(lane)) {
                // Its caller does not wait any more.
                Err(Told::Lead(mut lane)) => {
                    lane.handed = true;
                    connection = lane.connection.take();
                }
                _ => return,
            }
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        if !self.handed {
            self.hand_on();
        }
    }
}

impl Shared {
    fn enter(self: &Arc<Self>, asked: &Asked) -> Entered {
        let mut state = self.lanes.0.lock();
        match state.free.pop() {
            Some(connection) => Entered::Leads(Lane { shared: self.clone(), connection, handed: false }),
            None => {
                let (told, tells) = oneshot::channel();
                state.waiting.push_back(Waiter { asked: asked.clone(), told });
                Entered::Waits(tells)
            }
        }
    }

    /// One batch, and whether what was read before is still the same. Waits for a primary, and asks again when a connection
    /// is lost: until then. Also tells which generation was read from.
    pub async fn read_batch(
        self: &Arc<Self>,
        asked: Asked,
        until: Instant,
    ) -> Result<(Batch, u64), EngineError> {
        self.counters.batches.fetch_add(1, Ordering::Relaxed);
        loop {
            let told = match self.enter(&asked) {
                Entered::Leads(lane) => Ok(Told::Lead(lane)),
                Entered::Waits(tells) => match timeout_at(until.into(), tells).await {
                    Ok(told) => told.map_err(|_| Fault::lost("the leader of a lane failed")),
                    Err(_) => return Err(EngineError::Unavailable("no lane was free in time")),
                },
            };
            let read = match told {
                Ok(Told::Found(batch, generation)) => return Ok((batch, generation)),
                Ok(Told::Lead(lane)) => self.lead(lane, &asked, until).await,
                Ok(Told::Apart) => self.read_apart(&asked, until).await,
                Err(fault) => Err(fault),
            };
            match read {
                Ok(found) => return Ok(found),
                Err(fault) if !fault.ends_connection() || Instant::now() >= until => return Err(fault.into()),
                Err(_) => {}
            }
        }
    }

    /// Carries this batch, and all that waits by now.
    async fn lead(
        self: &Arc<Self>,
        mut lane: Lane,
        asked: &Asked,
        until: Instant,
    ) -> Result<(Batch, u64), Fault> {
        let connection = lane.connect(until).await?;
        let generation = connection.generation;
        let others = self.lanes.take(asked.size());
        self.counters.statements.fetch_add(1, Ordering::Relaxed);
        if others.is_empty() {
            let read = self.read_on(connection, asked).await;
            return Ok((self.noted(read, generation)?, generation));
        }
        let together = Together::of(std::iter::once(asked).chain(others.iter().map(|waiter| &waiter.asked)));
        let read = self.read_together(connection, &together).await;
        match self.noted(read, generation) {
            Ok(mut batches) => {
                drop(lane);
                let own = batches.next().ok_or(Fault::lost("no batch was read"))?;
                for (waiter, batch) in others.into_iter().zip(batches) {
                    let _ = waiter.told.send(Told::Found(batch, generation));
                }
                Ok((own, generation))
            }
            // The others ask again when they find that nobody will tell them anything.
            Err(fault) if fault.ends_connection() => Err(fault),
            Err(_) => {
                drop(lane);
                for waiter in others {
                    let _ = waiter.told.send(Told::Apart);
                }
                self.read_apart(asked, until).await
            }
        }
    }

    async fn read_apart(&self, asked: &Asked, until: Instant) -> Result<(Batch, u64), Fault> {
        let connection = self.pooled(until).await?;
        let generation = connection.generation;
        let read = self.read_on(&connection, asked).await;
        let batch = self.noted(read, generation)?;
        self.pool.give_back(connection);
        Ok((batch, generation))
    }

    /// A primary whose connection was lost is suspect.
    fn noted<T>(&self, read: Result<T, Fault>, generation: u64) -> Result<T, Fault> {
        if let Err(fault) = &read
            && fault.ends_connection()
        {
            self.primaries.suspect(generation);
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
        Ok(together.apart(&found, &changed, now).into_iter())
    }
}
