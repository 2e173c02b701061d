//! What every engine must do. One suite, run unchanged on each of them.

mod chunks;
mod clock;
mod commits;
mod model;
mod reopen;
mod runs;
mod scans;
mod seam;
mod several;
mod snapshots;

#[cfg(feature = "postgres")]
use crate::postgres::Database;
#[cfg(feature = "postgres")]
use lazuli_engine::Dialect;
use lazuli_engine::{Engine, EngineError, Entry, ExpectedVersion, Host, Key, Options, Txn, Version, Write};
use std::sync::Arc;
use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Memory,
    Embedded,
    #[cfg(feature = "postgres")]
    Postgres,
    #[cfg(feature = "postgres")]
    PostgresSerializable,
    /// With chunks as objects: in memory, in a directory.
    #[cfg(feature = "objects")]
    Objects,
    #[cfg(feature = "objects")]
    ObjectsInDirectory,
}

/// Where an engine lives: it can be opened again after it was closed or dropped.
pub struct Place {
    pub kind: Kind,
    pub dir: Arc<TempDir>,
    pub host: Host,
    #[cfg(feature = "postgres")]
    pub database: Option<Database>,
}

impl Place {
    /// `None` where that kind cannot be had.
    pub fn new(kind: Kind) -> Option<Self> {
        let dir = tempfile::Builder::new().prefix("lazuli-engine-").tempdir().expect("temporary directory");
        #[cfg(feature = "postgres")]
        let database = match kind {
            Kind::Memory | Kind::Embedded => None,
            Kind::Postgres => Some(Database::new(Dialect::Locks)?),
            Kind::PostgresSerializable => Some(Database::new(Dialect::Serializable)?),
            #[cfg(feature = "objects")]
            Kind::Objects => Some(crate::objects::in_memory()?),
            #[cfg(feature = "objects")]
            Kind::ObjectsInDirectory => Some(crate::objects::in_directory(dir.path())?),
        };
        Some(Self {
            kind,
            dir: Arc::new(dir),
            host: Host::real(),
            #[cfg(feature = "postgres")]
            database,
        })
    }

    #[cfg(feature = "objects")]
    pub fn over(database: Option<Database>) -> Option<Self> {
        let place = Self::new(Kind::Memory)?;
        Some(Self { kind: Kind::Objects, database: Some(database?), ..place })
    }

    pub fn open(&self) -> Engine {
        #[cfg(feature = "postgres")]
        if let Some(database) = &self.database {
            return database.open(self.host.clone());
        }
        match self.kind {
            Kind::Embedded => Engine::open(self.dir.path(), options(), self.host.clone()).expect("opens"),
            _ => Engine::memory(self.host.clone()),
        }
    }

    /// So many handles on one engine, as several servers have: each with a process's memory of its own where the engine is
    /// one of several processes.
    pub fn open_several(&self, count: usize) -> Vec<Engine> {
        match self.kind {
            Kind::Memory | Kind::Embedded => vec![self.open(); count],
            #[cfg(feature = "postgres")]
            _ => (0..count).map(|_| self.open()).collect(),
        }
    }

    /// Memory forgets; the others must not.
    pub fn is_durable(&self) -> bool {
        self.kind != Kind::Memory
    }
}

pub fn options() -> Options {
    // Small, so that tests reach tables and not only the log.
    let mut options = Options { cache_bytes: 4 << 20, memtable_bytes: 1 << 20, ..Options::default() };
    options.extents.extent_bytes = 16 << 20;
    options
}

/// Names every case for every engine.
macro_rules! contract {
    (on $kind:ident: $($case:ident),*) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            if let Some(place) = $crate::contract::Place::new($crate::contract::Kind::$kind) {
                super::$case(place).await;
            }
        })*
    };
    ($($case:ident),* $(,)?) => {
        mod memory {
            $crate::contract::contract!(on Memory: $($case),*);
        }
        mod embedded {
            $crate::contract::contract!(on Embedded: $($case),*);
        }
        #[cfg(feature = "postgres")]
        mod postgres {
            $crate::contract::contract!(on Postgres: $($case),*);
        }
        #[cfg(feature = "postgres")]
        mod postgres_serializable {
            $crate::contract::contract!(on PostgresSerializable: $($case),*);
        }
    };
}
pub(crate) use contract;

pub fn key(text: &str) -> Key {
    Key::copy_from_slice(text.as_bytes())
}

pub fn put(name: &str, value: &str) -> Write {
    Write::Put(key(name), key(value))
}

pub fn delete(name: &str) -> Write {
    Write::Delete(key(name))
}

pub fn txn(engine: &Engine, checks: Vec<(Key, ExpectedVersion)>, writes: Vec<Write>) -> Txn {
    Txn { checks, writes, ..Txn::new(engine.new_txn_id()) }
}

pub async fn write(engine: &Engine, writes: Vec<Write>) -> Version {
    engine.commit(txn(engine, vec![], writes)).await.expect("commits").version
}

pub async fn peek(engine: &Engine, name: &str) -> Option<Entry> {
    engine.reader().await.expect("reader").get_untracked(key(name)).await.expect("reads")
}

pub async fn text(engine: &Engine, name: &str) -> Option<String> {
    peek(engine, name).await.map(|entry| String::from_utf8(entry.value.to_vec()).expect("text"))
}

pub fn is_conflict<T>(result: &Result<T, EngineError>) -> bool {
    matches!(result, Err(EngineError::Conflict))
}
