//! The engine on PostgreSQL without services and without HTTP.

use std::time::{Duration, Instant};

use lazuli_engine::{Engine, EngineError, Host, Key, Plan, RemoteBytes, RemoteOptions, Value};
use tokio::task::JoinSet;

use crate::Outcome;

const CLIENTS: usize = 16;
const KEYS: u32 = 10_000;
const SIZE: usize = 1024;
/// Of a blob's record.
const RECORD: usize = 200;

/// What a commit reads and writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// One key is read and written.
    One,
    /// As Put Blob over a small blob: the rows of the container and of the blob, and three that are not there, are read; the record and the new bytes are
    /// written, the old bytes deleted.
    OfPutBlob,
}

/// What each does over and over: how many, and in how many seconds.
pub async fn commits(database: &str, rows: Rows, seconds: f64) -> Outcome<(u64, f64)> {
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
                engine.run(None, |reader| commit(reader, rows, number, done)).await?;
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

async fn commit(
    reader: lazuli_engine::Reader,
    rows: Rows,
    number: u32,
    round: u64,
) -> Result<Plan<()>, EngineError> {
    let name = |kind: &[u8], number: u32| Key::from([b"bench", kind, &number.to_be_bytes()].concat());
    let key = name(b"k", number);
    let mut plan = Plan::new(());
    match rows {
        Rows::One => {
            reader.get(key.clone()).await?;
            plan.put(key, Value::from(vec![b'x'; SIZE]));
        }
        Rows::OfPutBlob => {
            let absent = [b"a", b"b", b"c"].map(|kind| name(kind, number));
            let keys = [name(b"container", 0), key.clone()].into_iter().chain(absent).collect();
            reader.get_many(keys).await?;
            let bytes = |round: u64| {
                Key::from([b"bench-bytes", &number.to_be_bytes()[..], &round.to_be_bytes()].concat())
            };
            plan.put(key, Value::from(vec![b'r'; RECORD]));
            plan.put(bytes(round), Value::from(vec![b'x'; SIZE]));
            if let Some(before) = round.checked_sub(u64::from(KEYS) / CLIENTS as u64) {
                plan.delete(bytes(before));
            }
        }
    }
    Ok(plan)
}
