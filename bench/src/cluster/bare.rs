//! The engine on PostgreSQL without services and without HTTP.

use std::time::{Duration, Instant};

use lazuli_engine::{Engine, EngineError, Host, Key, Plan, RemoteBytes, RemoteOptions, Value};
use tokio::task::JoinSet;

use crate::Outcome;

const CLIENTS: usize = 16;
const KEYS: u32 = 10_000;
const SIZE: usize = 1024;

/// Each reads a key and writes it, over and over: how many, and in how many seconds.
pub async fn commits(database: &str, seconds: f64) -> Outcome<(u64, f64)> {
    let mut options = RemoteOptions::new(database, RemoteBytes::memory());
    options.schema = "b_bare".into();
    let engine = Engine::connect(options, Host::real()).await?;
    let (began, end) = (Instant::now(), Instant::now() + Duration::from_secs_f64(seconds));
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS as u32 {
        let engine = engine.clone();
        clients.spawn(async move {
            let mut done: u64 = 0;
            while Instant::now() < end {
                let number = (done as u32).wrapping_mul(CLIENTS as u32).wrapping_add(client) % KEYS;
                engine.run(None, |reader| commit(reader, number)).await?;
                done += 1;
            }
            Ok::<u64, EngineError>(done)
        });
    }
    let mut operations = 0;
    while let Some(done) = clients.join_next().await {
        operations += done??;
    }
    let took = began.elapsed().as_secs_f64();
    engine.close().await?;
    Ok((operations, took))
}

async fn commit(reader: lazuli_engine::Reader, number: u32) -> Result<Plan<()>, EngineError> {
    let key = Key::from([b"bench".as_slice(), &number.to_be_bytes()].concat());
    reader.get(key.clone()).await?;
    let mut plan = Plan::new(());
    plan.put(key, Value::from(vec![b'x'; SIZE]));
    Ok(plan)
}
