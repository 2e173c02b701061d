//! How a database is reached and used.

use super::fault::Fault;
use crate::extents::Extents;
#[cfg(feature = "objects")]
use crate::objects::ObjectOptions;
#[cfg(feature = "objects")]
use object_store::ObjectStore;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// How a server answers what no commit stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// After a commit that began when the reading was done: a former primary that was not fenced cannot make one.
    Strict,
    /// At once. What a former primary that was not fenced still shows is noticed after some seconds.
    Primary,
}

/// How commits are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// READ COMMITTED, and advisory locks of the transaction.
    Locks,
    /// SERIALIZABLE, for databases that speak PostgreSQL's language and have no dependable advisory locks.
    Serializable,
}

/// How a [database](crate::Engine::connect) is reached and used.
#[derive(Clone)]
pub struct RemoteOptions {
    /// `postgres://user@host:port,host:port/database`: every node that may be or become the primary. Understood behind
    /// the question mark: `sslmode` (`disable`, `verify-full`), `sslrootcert`, `user`, `password`, `dbname` and `options`.
    pub database: String,
    /// Instead of one in the URL.
    pub password: Option<String>,
    /// Lower-case letters, digits and `_`. One database may hold several.
    pub schema: String,
    /// [`Reads::Strict`] with several hosts and [`Reads::Primary`] with one, unless told.
    pub reads: Option<Reads>,
    pub dialect: Dialect,
    /// Groups of transactions that are committed at a time.
    pub commit_lanes: usize,
    /// Connections that batches of keys are read through, a statement at a time on each.
    pub read_lanes: usize,
    /// Snapshots that are held at a time, each by a connection.
    pub readers: usize,
    /// Go on with a database that does not make commits durable, for tests.
    pub unsafe_database: bool,
    /// How long the start waits for a primary.
    pub start_patience: Duration,
    /// Where chunks are kept.
    pub bytes: Bytes,
    /// How far a test moves the clocks of several engines together.
    pub(crate) offset: Option<Arc<AtomicU64>>,
}

impl Dialect {
    /// As it is set, and as the schema remembers it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Locks => "locks",
            Self::Serializable => "serializable",
        }
    }
}

/// Where chunks are kept beside a database.
#[derive(Clone)]
pub struct Bytes(pub(crate) Kept);

#[derive(Clone)]
pub(crate) enum Kept {
    Memory(Extents),
    #[cfg(feature = "objects")]
    Objects(Arc<dyn ObjectStore>, ObjectOptions),
}

impl Bytes {
    /// In the memory of this process, for tests: shared by the engines that are given clones of it.
    pub fn memory() -> Self {
        Self(Kept::Memory(Extents::local(crate::local::LocalExtents::memory())))
    }

    /// As objects, at `s3://bucket/prefix`, `az://container/prefix` or `file:///directory`: docs/configuration.md.
    #[cfg(feature = "objects")]
    pub fn at(url: &str, options: ObjectOptions) -> Result<Self, ConnectError> {
        Ok(Self::objects(crate::objects::open(url)?, options))
    }

    /// As objects of this store, whose successful writes must be durable.
    #[cfg(feature = "objects")]
    pub fn objects(store: Arc<dyn ObjectStore>, options: ObjectOptions) -> Self {
        Self(Kept::Objects(store, options))
    }
}

impl RemoteOptions {
    pub fn new(database: impl Into<String>, bytes: Bytes) -> Self {
        Self {
            database: database.into(),
            password: None,
            schema: "lazuli".into(),
            reads: None,
            dialect: Dialect::Locks,
            commit_lanes: 4,
            read_lanes: 2,
            readers: 16,
            unsafe_database: false,
            start_patience: Duration::from_secs(30),
            bytes,
            offset: None,
        }
    }
}

/// Without what is secret.
impl fmt::Debug for RemoteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteOptions")
            .field("schema", &self.schema)
            .field("reads", &self.reads)
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

/// Why an engine was not connected to its database.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the database's address: {0}")]
    Address(String),
    #[error("the schema's name: lower-case letters, digits and _, at most 48, and no digit first")]
    Schema,
    #[error("{}: {why}", path.display())]
    Certificates { path: PathBuf, why: String },
    #[error("no database is to be reached that is the primary and proves it: {0}")]
    NoPrimary(String),
    #[error("the database would lose acknowledged writes: {0}")]
    Unsafe(String),
    #[error(
        "the schema was made by a newer version of this program (format {found}; this one knows {known})"
    )]
    Newer { found: u32, known: u32 },
    #[error(
        "the servers of this schema use the dialect `{found}`, and must all use the same: see docs/configuration.md"
    )]
    OtherDialect { found: String },
    #[error("where bytes are kept: {0}")]
    Bytes(String),
    /// It did not answer, or refused. That may pass.
    #[error("where bytes are kept: it cannot be used: {0}")]
    NoBytes(String),
    #[error("the schema cannot be made or read: {0}")]
    Database(String),
    /// It was lost meanwhile, or busy. That may pass.
    #[error("the database, while the schema was made or read: {0}")]
    NoDatabase(String),
}

impl From<Fault> for ConnectError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unexpected(text) => Self::Database(text),
            fault => Self::NoDatabase(fault.to_string()),
        }
    }
}
