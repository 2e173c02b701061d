//! A place for each test in a PostgreSQL server that they share. Where PostgreSQL is not installed, tests say so and pass.

use lazuli_engine::{Dialect, Engine, Host, RemoteBytes, RemoteOptions};
use lazuli_testing::postgres::shared;
use std::sync::atomic::{AtomicU32, Ordering};

/// A fresh schema, and bytes in memory that engines opened one after another share.
pub struct Database {
    pub options: RemoteOptions,
}

impl Database {
    pub fn new(dialect: Dialect) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut options = RemoteOptions::new(shared()?.url(), RemoteBytes::memory());
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        options.schema = format!("t_{}_{next}_{:x}", std::process::id(), rand());
        options.dialect = dialect;
        options.unsafe_database = true;
        options.readers = 32;
        Some(Self { options })
    }

    pub fn open(&self, host: Host) -> Engine {
        let options = self.options.clone();
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(Engine::connect(options, host)).expect("connects")
        })
    }
}

/// So that the number of a process that comes around again does not meet an old schema.
fn rand() -> u32 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("time").subsec_nanos()
}
