//! Snapshots that are held: a transaction on a connection of its own, for as long as a reader lives, with a bound.

use super::connection::Connection;
use super::fault::Fault;
use super::lanes::Batch;
use super::primary::PATIENCE;
use super::shared::Shared;
use super::sql::Sql;
use super::together::Asked;
use crate::error::EngineError;
use crate::key::Key;
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;
use tokio_postgres::Row;

use super::connection::Params;

/// A snapshot is not held for longer: the database cannot clean up behind it. It ends an idle one itself a little later.
const LIFE: Duration = Duration::from_secs(10);
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
const END: &str = "COMMIT";

const TOO_LONG: EngineError = EngineError::Unavailable("a snapshot was held for too long");
const BUSY: EngineError = EngineError::Unavailable("too many snapshots are held");

pub(super) struct Pool {
    places: Arc<Semaphore>,
    size: usize,
    idle: Mutex<Vec<Connection>>,
    held: Mutex<Vec<Weak<Pinned>>>,
}

pub(super) struct Pinned {
    shared: Arc<Shared>,
    generation: u64,
    began: Instant,
    /// `None` once the transaction was ended. The pool ends that of a reader that stays for too long, and the next reader gets
    /// its place.
    held: Mutex<Option<Held>>,
}

struct Held {
    connection: Arc<Connection>,
    _place: OwnedSemaphorePermit,
}

impl Pool {
    pub fn new(size: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(size)), size, idle: Mutex::default(), held: Mutex::default() }
    }

    pub fn held(&self) -> usize {
        self.size - self.places.available_permits()
    }

    pub fn give_back(&self, connection: Connection) {
        if !connection.is_closed() {
            self.idle.lock().push(connection);
        }
    }

    /// Once in a while: ends what is held for too long.
    pub fn tidy(&self) {
        let mut held = self.held.lock();
        held.retain(|pinned| match pinned.upgrade() {
            Some(pinned) if pinned.began.elapsed() > LIFE => {
                tracing::warn!("a snapshot was held for too long");
                pinned.end();
                false
            }
            Some(_) => true,
            None => false,
        });
    }
}

impl Shared {
    /// A snapshot that stays, and the first batch of keys in it.
    pub async fn pin(self: &Arc<Self>, asked: &Asked) -> Result<(Arc<Pinned>, Batch), EngineError> {
        let until = Instant::now() + PATIENCE;
        let place = match timeout_at(until.into(), self.pool.places.clone().acquire_owned()).await {
            Ok(Ok(place)) => place,
            _ => return Err(BUSY),
        };
        self.counters.snapshots.fetch_add(1, Ordering::Relaxed);
        for attempts in 0.. {
            let fault = match self.pooled(until).await {
                Ok(connection) => {
                    let soon = until.min(Instant::now() + PATIENCE / 2);
                    match self.answered_until(soon, &connection, self.begin(&connection, asked)).await {
                        Ok(batch) => {
                            let pinned = Arc::new(Pinned {
                                shared: self.clone(),
                                generation: connection.generation,
                                began: Instant::now(),
                                held: Mutex::new(Some(Held {
                                    connection: Arc::new(connection),
                                    _place: place,
                                })),
                            });
                            self.pool.held.lock().push(Arc::downgrade(&pinned));
                            return Ok((pinned, batch));
                        }
                        Err(fault) => {
                            // Those that lie idle may be no better.
                            self.pool.idle.lock().clear();
                            fault
                        }
                    }
                }
                Err(fault) => fault,
            };
            if !fault.ends_connection() || Instant::now() >= until {
                return Err(fault.into());
            }
            self.pause(attempts).await;
        }
        Err(BUSY)
    }

    /// A connection for one reader.
    pub async fn pooled(&self, until: Instant) -> Result<Connection, Fault> {
        let primary = self.primaries.wait(until).await.map_err(|_| Fault::lost("no proven primary"))?;
        loop {
            let idle = self.pool.idle.lock().pop();
            match idle {
                Some(idle) if idle.generation == primary.generation && !idle.is_closed() => return Ok(idle),
                Some(_) => {}
                None => return self.primaries.connect(until).await,
            }
        }
    }

    /// The beginning and the first batch are one round trip.
    async fn begin(&self, connection: &Connection, asked: &Asked) -> Result<Batch, Fault> {
        connection.statement(asked.sql()).await?;
        let mut begun = pin!(connection.execute(BEGIN));
        // Sent by its first poll, before the batch is.
        let early = begun.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let batch = self.read_on(connection, asked).await?;
        match early {
            std::task::Poll::Ready(begun) => begun?,
            std::task::Poll::Pending => begun.await?,
        }
        Ok(batch)
    }
}

impl Pinned {
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub async fn read(&self, keys: Vec<Key>) -> Result<Batch, EngineError> {
        let connection = &*self.connection()?;
        let asked = Asked::new(keys, Vec::new());
        let read = self.shared.read_on(connection, &asked);
        self.kept(self.shared.answered_until(self.began + LIFE, connection, read).await)
    }

    pub async fn query(&self, sql: Sql, params: Params<'_>) -> Result<Vec<Row>, EngineError> {
        let connection = &*self.connection()?;
        let asked = connection.query(sql, params);
        self.kept(self.shared.answered_until(self.began + LIFE, connection, asked).await)
    }

    fn connection(&self) -> Result<Arc<Connection>, EngineError> {
        let held = self.held.lock();
        let held = held.as_ref().filter(|_| self.began.elapsed() <= LIFE).ok_or(TOO_LONG)?;
        Ok(held.connection.clone())
    }

    /// What was asked for behind the end of the transaction was not of its snapshot.
    fn kept<T>(&self, answer: Result<T, Fault>) -> Result<T, EngineError> {
        match answer {
            _ if self.held.lock().is_none() => Err(TOO_LONG),
            Ok(answer) => Ok(answer),
            Err(fault) => Err(fault.into()),
        }
    }

    fn end(&self) {
        // The place is free when the connection is back.
        let Some(Held { connection, _place }) = self.held.lock().take() else { return };
        connection.send(END);
        // One that something is being asked of is closed when that is done.
        if let Some(connection) = Arc::into_inner(connection) {
            self.shared.pool.give_back(connection);
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.end();
    }
}
