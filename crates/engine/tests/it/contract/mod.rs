//! What every engine must do. One suite, run unchanged on each of them.

mod chunks;
mod clock;
mod commits;
mod model;
mod reopen;
mod runs;
mod scans;
mod seam;
mod snapshots;

use lazuli_engine::{Engine, EngineError, Entry, ExpectedVersion, Host, Key, Options, Txn, Version, Write};
use std::sync::Arc;
use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Memory,
    Embedded,
}

/// Where an engine lives: it can be opened again after it was closed or dropped.
pub struct Place {
    pub kind: Kind,
    pub dir: Arc<TempDir>,
    pub host: Host,
}

impl Place {
    pub fn new(kind: Kind) -> Self {
        let dir = tempfile::Builder::new().prefix("lazuli-engine-").tempdir().expect("temporary directory");
        Self { kind, dir: Arc::new(dir), host: Host::real() }
    }

    pub fn open(&self) -> Engine {
        match self.kind {
            Kind::Memory => Engine::memory(self.host.clone()),
            Kind::Embedded => Engine::open(self.dir.path(), options(), self.host.clone()).expect("opens"),
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
    ($($case:ident),* $(,)?) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case($crate::contract::Place::new($crate::contract::Kind::Memory)).await;
            })*
        }
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case($crate::contract::Place::new($crate::contract::Kind::Embedded)).await;
            })*
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
