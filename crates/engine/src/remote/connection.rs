//! One connection to the database.

use super::fault::Fault;
use super::options::Dialect;
use super::settings::{CONNECT_PATIENCE, Node, Settings};
use super::sql::Sql;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio::time::{timeout, timeout_at};
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, NoTls, Row, SimpleQueryMessage, Statement};

/// What every session is set to. Plans must not change with what the table looks like at the moment. Warnings are heard: see
/// [`drive`].
const SESSION: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
    SET enable_bitmapscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
    SET lock_timeout = '2s'; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = '15s';
    SET client_connection_check_interval = '5s'; SET standard_conforming_strings = on;
    SET client_min_messages = warning;";
/// A role or a database may be set otherwise since the start. A session that only tests something does without.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');";
/// What is asked again and again is answered within this time, or the connection is given up; and so is what is asked once.
const ANSWER: Duration = Duration::from_secs(10);
const ANSWER_ONCE: Duration = Duration::from_secs(60);
/// The function of PostgreSQL that says so when a commit's wait for its standbys was cancelled.
const WAIT_FOR_STANDBYS: &str = "SyncRepWaitForLSN";
const PROVE: &str =
    "SELECT pg_logical_emit_message(true, 'lazuli', ''), current_setting('transaction_read_only')";
const READ_COMMITTED: &str = "SET default_transaction_isolation = 'read committed';";
const SERIALIZABLE: &str = "SET default_transaction_isolation = 'serializable';";

pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(super) struct Connection {
    client: Client,
    settings: Arc<Settings>,
    statements: [OnceCell<Statement>; Sql::COUNT],
    /// Something was not answered in time: what is asked behind it would not be either.
    is_given_up: AtomicBool,
    /// A commit on this connection did not wait for its standbys to the end.
    is_unreplicated: Arc<AtomicBool>,
    /// Which choice of a primary it belongs to.
    pub generation: u64,
}

impl Connection {
    /// A session on a node. It lives on the engine's runtime, whichever asks for it.
    pub async fn open(
        runtime: &Handle,
        settings: &Arc<Settings>,
        node: &Node,
        generation: u64,
    ) -> Result<Self, Fault> {
        let opened = Driven::open(runtime, settings, node, generation).await?;
        let Driven { connection, driver } = opened;
        if let Some(driver) = driver {
            runtime.spawn(driver);
        }
        Ok(connection)
    }

    /// It is of no more use.
    pub fn is_closed(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed) || self.client.is_closed()
    }

    /// What is asked of it, if it is answered in time.
    pub async fn in_time<T>(
        &self,
        until: Instant,
        answered: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let answer =
            timeout_at(until.into(), answered).await.unwrap_or(Err(Fault::lost("no answer in time")));
        let answer = match answer {
            Ok(_) if self.is_unreplicated.load(Ordering::Relaxed) => {
                Err(Fault::lost("somebody cancelled a commit's wait for its standbys"))
            }
            answer => answer,
        };
        if matches!(answer, Err(Fault::Lost(_))) {
            self.is_given_up.store(true, Ordering::Relaxed);
        }
        answer
    }

    pub async fn query(&self, sql: Sql, params: Params<'_>) -> Result<Vec<Row>, Fault> {
        let statement = self.statement(sql).await?;
        let answered = async { Ok(self.client.query(&statement, params).await?) };
        self.in_time(Instant::now() + ANSWER, answered).await
    }

    /// The only row.
    pub async fn query_one(&self, sql: Sql, params: Params<'_>) -> Result<Row, Fault> {
        let statement = self.statement(sql).await?;
        let answered = async { Ok(self.client.query_one(&statement, params).await?) };
        self.in_time(Instant::now() + ANSWER, answered).await
    }

    /// The statement, prepared. After this, a query is on its way once it is polled.
    pub async fn statement(&self, sql: Sql) -> Result<Statement, Fault> {
        let cell = self.statements.get(sql as usize).ok_or(Fault::Unexpected("no such statement".into()))?;
        let prepare = || self.client.prepare(self.settings.texts.text(sql));
        let prepared = async { Ok(cell.get_or_try_init(prepare).await?.clone()) };
        if let Some(statement) = cell.get() {
            return Ok(statement.clone());
        }
        self.in_time(Instant::now() + ANSWER, prepared).await
    }

    pub async fn execute(&self, text: &str) -> Result<(), Fault> {
        let answered = async { Ok(self.client.batch_execute(text).await?) };
        self.in_time(Instant::now() + ANSWER_ONCE, answered).await
    }

    /// Makes a commit that writes nothing but a record of the log, which waits for standbys as every commit does. A node that
    /// was set to be read only makes it all the same, and proves nothing by it.
    pub async fn prove(&self) -> Result<(), Fault> {
        let answered = async { Ok(self.client.simple_query(PROVE).await?) };
        let answers = self.in_time(Instant::now() + ANSWER_ONCE, answered).await?;
        let is_writable = |answer: &SimpleQueryMessage| match answer {
            SimpleQueryMessage::Row(row) => row.get(1) == Some("off"),
            _ => false,
        };
        if answers.iter().any(is_writable) { Ok(()) } else { Err(Fault::NotPrimary) }
    }

    /// Sends without waiting for the answer. What is sent later on this connection is done later.
    pub fn send(&self, text: &str) {
        let sent = pin!(self.client.batch_execute(text));
        // The first poll puts it into the connection's queue; the answer is read by the connection's task, and dropped.
        let _: Poll<_> = sent.poll(&mut Context::from_waker(Waker::noop()));
    }

    /// For what is asked once.
    pub async fn ask(&self, text: &str, params: Params<'_>) -> Result<Vec<Row>, Fault> {
        let answered = async { Ok(self.client.query(text, params).await?) };
        self.in_time(Instant::now() + ANSWER_ONCE, answered).await
    }
}

/// Sends what is asked and reads what is answered, until the connection ends.
type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connection without a task of its own: whoever uses it carries it. So an answer wakes one task and not two.
pub(super) struct Driven {
    connection: Connection,
    /// None when it has ended.
    driver: Option<Driver>,
}

impl Driven {
    pub async fn open(
        runtime: &Handle,
        settings: &Arc<Settings>,
        node: &Node,
        generation: u64,
    ) -> Result<Self, Fault> {
        let (settings, node) = (settings.clone(), node.clone());
        let opening = async move {
            let isolation = match settings.dialect {
                Dialect::Locks => READ_COMMITTED,
                Dialect::Serializable => SERIALIZABLE,
            };
            let is_unreplicated = Arc::new(AtomicBool::new(false));
            let (client, driver) = connect(&node, is_unreplicated.clone()).await?;
            let durable = if settings.unsafe_database { "" } else { DURABLE };
            let session = format!("{SESSION}{isolation}{durable}");
            let connection = Connection {
                client,
                settings,
                statements: Default::default(),
                is_given_up: AtomicBool::new(false),
                is_unreplicated,
                generation,
            };
            let mut opened = Self { connection, driver: Some(driver) };
            let (connection, driven) = opened.parts();
            driven.until(connection.execute(&session)).await?;
            Ok(opened)
        };
        let opened = runtime.spawn(async move { timeout(CONNECT_PATIENCE, opening).await });
        match opened.await {
            Ok(Ok(opened)) => opened,
            Ok(Err(_)) => Err(Fault::lost("no connection in time")),
            Err(_) => Err(Fault::lost("the runtime is shutting down")),
        }
    }

    pub fn generation(&self) -> u64 {
        self.connection.generation
    }

    pub fn is_closed(&self) -> bool {
        self.driver.is_none() || self.connection.is_closed()
    }

    /// The connection to ask something of, and what carries it until that is answered.
    pub fn parts(&mut self) -> (&Connection, Carried<'_>) {
        (&self.connection, Carried(&mut self.driver))
    }

    /// Returns when the connection has ended.
    pub async fn ended(&mut self) {
        if let Some(driver) = &mut self.driver {
            driver.await;
            self.driver = None;
        }
    }
}

pub(super) struct Carried<'a>(&'a mut Option<Driver>);

impl Carried<'_> {
    pub async fn until<T>(self, answered: impl Future<Output = T>) -> T {
        let (mut answered, driver) = (pin!(answered), self.0);
        poll_fn(|context| {
            // What is asked is sent, and what was answered is looked at, in one go.
            if let Poll::Ready(answer) = answered.as_mut().poll(context) {
                return Poll::Ready(answer);
            }
            if driver.as_mut().is_some_and(|driver| driver.as_mut().poll(context).is_ready()) {
                *driver = None;
            }
            answered.as_mut().poll(context)
        })
        .await
    }
}

async fn connect(node: &Node, is_unreplicated: Arc<AtomicBool>) -> Result<(Client, Driver), Fault> {
    Ok(match node.tls.clone() {
        None => {
            let (client, connection) = node.config.connect(NoTls).await?;
            (client, Box::pin(drive(connection, is_unreplicated)))
        }
        Some(tls) => {
            let (client, connection) = node.config.connect(tls).await?;
            (client, Box::pin(drive(connection, is_unreplicated)))
        }
    })
}

/// Moves messages until the connection ends. PostgreSQL calls a commit successful whose wait for a standby was cancelled, by
/// `pg_cancel_backend` for instance, and says with a notice that comes before the success that a standby may not have it.
async fn drive<S, T>(mut connection: tokio_postgres::Connection<S, T>, is_unreplicated: Arc<AtomicBool>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            // Texts are in the language of the database, and names of its functions are not.
            Ok(AsyncMessage::Notice(notice)) if notice.routine() == Some(WAIT_FOR_STANDBYS) => {
                is_unreplicated.store(true, Ordering::Relaxed);
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "a connection to the database ended");
                return;
            }
        }
    }
}
