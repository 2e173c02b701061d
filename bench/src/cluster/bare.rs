//! The engine on PostgreSQL without services and without HTTP.

use std::time::{Duration, Instant};

use lazuli_engine::{Engine, EngineError, Host, Key, Plan, RemoteBytes, RemoteOptions, Value};
use tokio::task::JoinSet;

use crate::Outcome;

const KEYS: u32 = 10_000;
const SIZE: usize = 1024;
/// Of a blob's record.
const RECORD: usize = 200;
const MOST_CLIENTS: u32 = 32;
/// Seconds of a look at the size of groups.
const LOOK: f64 = 0.4;

/// What a commit reads and writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// One key is read and written.
    One,
    /// As Put Blob over a small blob: the rows of the container and of the blob, and three that are not there, are read; the record and the new bytes are
    /// written, the old bytes deleted.
    OfPutBlob,
}

/// What came of it.
pub struct Done {
    pub operations: u64,
    pub seconds: f64,
    /// Members of a group.
    pub group: f64,
}

/// How many clients the engine alone needs to come to groups of this size.
pub async fn clients_for(database: &str, rows: Rows, group: f64) -> Outcome<u32> {
    for clients in 1..MOST_CLIENTS {
        if commits(database, rows, clients, LOOK).await?.group >= group {
            return Ok(clients);
        }
    }
    Ok(MOST_CLIENTS)
}

/// Each client does it over and over.
pub async fn commits(database: &str, rows: Rows, count: u32, seconds: f64) -> Outcome<Done> {
    let mut options = RemoteOptions::new(database, RemoteBytes::memory());
    options.schema = "b_bare".into();
    let engine = Engine::connect(options, Host::real()).await?;
    let (began, end) = (Instant::now(), Instant::now() + Duration::from_secs_f64(seconds));
    let mut clients = JoinSet::new();
    for client in 0..count {
        let engine = engine.clone();
        clients.spawn(async move {
            let mut done: u64 = 0;
            while Instant::now() < end {
                let number = (done as u32).wrapping_mul(count).wrapping_add(client) % KEYS;
                engine
                    .run(None, |reader| commit(reader, rows, number, (done, u64::from(KEYS / count))))
                    .await?;
                done += 1;
            }
            Ok::<u64, EngineError>(done)
        });
    }
    let mut operations = 0;
    while let Some(done) = clients.join_next().await {
        operations += done??;
    }
    let seconds = began.elapsed().as_secs_f64();
    let stats = engine.stats();
    engine.close().await?;
    Ok(Done { operations, seconds, group: stats.transactions as f64 / stats.groups.max(1) as f64 })
}

async fn commit(
    reader: lazuli_engine::Reader,
    rows: Rows,
    number: u32,
    (round, cycle): (u64, u64),
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
            plan.put_private(bytes(round), Value::from(vec![b'x'; SIZE]));
            if let Some(before) = round.checked_sub(cycle) {
                plan.delete_private(bytes(before));
            }
        }
    }
    Ok(plan)
}
