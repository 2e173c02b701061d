//! Several servers over one engine, for tests: each use takes another one. Of one server it is that server alone.
//!
//! The integration tests have this file as a module of their own.

#![allow(dead_code, reason = "each has some of it")]

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lazuli_engine::{Engine, Host, RemoteBytes, RemoteOptions};
use lazuli_service::{Members, ServiceOptions, Services, upkeep};
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinHandle;

/// Quicker than real ones, so that no test waits for them.
const BEAT: Duration = Duration::from_millis(5);

/// An engine for a test: in memory, or on a PostgreSQL server when LAZULI_TEST_ENGINE says so.
/// `cargo xtask cluster` runs the tests of several servers like that.
pub async fn engine(host: Host) -> Engine {
    if std::env::var("LAZULI_TEST_ENGINE").as_deref() != Ok("postgres") {
        return Engine::memory(host);
    }
    on_postgres(host).await.expect("PostgreSQL is asked for, and not installed")
}

/// The same on a PostgreSQL server in any case; none where there is none.
pub async fn on_postgres(host: Host) -> Option<Engine> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let shared = lazuli_testing::postgres::shared()?;
    // One memory for all servers: tests write on one and publish on another, and ask how many bytes are alive.
    let mut options = RemoteOptions::new(shared.url(), RemoteBytes::memory());
    let (next, now) = (NEXT.fetch_add(1, Ordering::Relaxed), std::time::SystemTime::UNIX_EPOCH.elapsed());
    options.schema = format!("s_{}_{next}_{:x}", std::process::id(), now.map_or(0, |now| now.subsec_nanos()));
    options.unsafe_database = true;
    Some(Engine::connect(options, host).await.expect("connected"))
}

#[derive(Clone)]
pub struct Servers(Arc<Inner>);

struct Inner {
    engine: Engine,
    /// Where each server has a handle of its own, those of the others.
    more_engines: Vec<Engine>,
    all: Vec<Services>,
    uses: AtomicUsize,
    quiet: Arc<Mutex<()>>,
    beating: Option<JoinHandle<()>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(beating) = &self.beating {
            beating.abort();
        }
    }
}

impl Servers {
    pub async fn new(engine: Engine, options: ServiceOptions, count: usize) -> Self {
        let members = if count > 1 { Members::Several } else { Members::Alone };
        // Several servers are over an engine where snapshots are not held for long.
        let holds_snapshots = options.holds_snapshots && count == 1;
        let options = ServiceOptions { members, holds_snapshots, ..options };
        let mut all = vec![Services::new(engine.clone(), options.clone())];
        let mut more_engines = Vec::new();
        while all.len() < count {
            let another = engine.another().await.expect("connected");
            all.push(Services::new(another.clone(), options.clone()));
            if another.stats().remote.is_some() {
                more_engines.push(another);
            }
        }
        for server in &all {
            server.join().await.expect("joined");
        }
        let quiet = Arc::new(Mutex::new(()));
        let beating =
            (count > 1).then(|| tokio::spawn(beat(engine.clone(), all.clone(), Arc::clone(&quiet))));
        Self(Arc::new(Inner { engine, more_engines, all, uses: AtomicUsize::new(0), quiet, beating }))
    }

    /// Nothing beats for them.
    pub fn of(engine: Engine, all: Vec<Services>) -> Self {
        let (uses, quiet) = (AtomicUsize::new(0), Arc::default());
        Self(Arc::new(Inner { engine, more_engines: Vec::new(), all, uses, quiet, beating: None }))
    }

    /// What all of them work over.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub fn all(&self) -> &[Services] {
        &self.0.all
    }

    /// While it is held, no server writes its row: for tests that count commits.
    pub async fn quiet(&self) -> MutexGuard<'_, ()> {
        self.0.quiet.lock().await
    }

    /// One pass of one of the servers.
    pub async fn sweep_once(&self) -> usize {
        upkeep::sweep(self).await.expect("swept")
    }

    /// Until nothing is left to do. All have their turn: one of them may have the job still.
    pub async fn sweep(&self) {
        for _ in 0..1_000 {
            let mut found = 0;
            for server in self.all() {
                found += upkeep::sweep(server).await.expect("swept");
            }
            if found == 0 {
                return;
            }
        }
        panic!("the sweeper finds no end");
    }

    /// Commits of all of them.
    pub fn transactions(&self) -> u64 {
        let engines = std::iter::once(&self.0.engine).chain(&self.0.more_engines);
        engines.map(|engine| engine.stats().transactions).sum()
    }

    /// What the sweepers could not do.
    pub fn passed_over(&self) -> u64 {
        self.all().iter().map(|server| server.upkeep().stats().passed_over).sum()
    }

    /// Lets the engine go: its directory can be opened again.
    pub async fn end(self) {
        if let Some(beating) = &self.0.beating {
            beating.abort();
            while !beating.is_finished() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }
}

/// In an order that no pattern of a test falls in with.
impl Deref for Servers {
    type Target = Services;

    fn deref(&self) -> &Services {
        let number = self.0.uses.fetch_add(1, Ordering::Relaxed) as u64;
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        &self.0.all[mixed as usize % self.0.all.len()]
    }
}

async fn beat(engine: Engine, all: Vec<Services>, quiet: Arc<Mutex<()>>) {
    while engine.is_stopped().is_none() {
        {
            let _quiet = quiet.lock().await;
            for server in &all {
                // The engine may be closed by the test.
                let _ = server.beat().await;
            }
        }
        tokio::time::sleep(BEAT).await;
    }
}
