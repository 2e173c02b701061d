//! Durable read-modify-write of three keys, beside the bare limit: appending as many bytes as a group has
//! to a file, and fdatasync, as often as it goes.

use crate::Settings;
use crate::reads::commit;
use crate::table::{Numbers, Samples, head, line};
use lazuli_engine::{Engine, EngineError, Host, Key, Options, Plan, Write};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

const RECORDS: u64 = 100_000;
const VALUE: usize = 300;
/// Three times key, value, version and framing, and its share of the marks.
const BYTES: f64 = 3.0 * (24.0 + VALUE as f64 + 8.0 + 21.0) + 60.0;

pub async fn run(settings: &Settings) {
    head("Durable read-modify-write of 3 keys (300 B each), and append + fdatasync of the same groups");
    let dir = tempfile::tempdir_in(&settings.dir).expect("a directory");
    let options = Options { memtable_bytes: settings.memtable << 20, ..Options::default() };
    let engine = Engine::open(&dir.path().join("data"), options, Host::real()).expect("opens");
    // All records are there, as in a service that has been used for a while.
    for first in (0..RECORDS).step_by(1_000) {
        let writes = (first..first + 1_000).map(|n| Write::Put(record(n), vec![0; VALUE].into()));
        commit(&engine, writes.collect()).await;
    }
    // Its memory and caches, too.
    engine_round(&engine, 64, settings.time.max(Duration::from_secs(6))).await;
    for clients in settings.clients.map_or(vec![1, 16, 64], |clients| vec![clients]) {
        // The disk's speed changes from minute to minute: engine and bare take turns.
        let rounds = 4;
        let time = settings.time / rounds;
        let (mut ops, mut limit, mut samples, mut group) = (0.0, 0.0, Samples::default(), 0.0);
        for _ in 0..rounds {
            let (speed, mine, size) = engine_round(&engine, clients, time).await;
            let bare = bare_round(dir.path(), size, time);
            ops += speed / f64::from(rounds);
            limit += bare / f64::from(rounds);
            group += size / f64::from(rounds);
            samples.extend(mine);
        }
        let remark = format!("group {group:.1}; bare {limit:.0} /s; {:.0} % of bare", 100.0 * ops / limit);
        line(&format!("{clients} clients"), ops, &mut samples, &remark);
    }
    engine.close().await.expect("closes");
}

/// Operations a second, their latencies, transactions in a group.
async fn engine_round(engine: &Engine, clients: u64, time: Duration) -> (f64, Samples, f64) {
    let before = engine.stats();
    let began = Instant::now();
    let end = began + time;
    let tasks: Vec<_> = (0..clients)
        .map(|client| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let mut numbers = Numbers(client * 77 + began.elapsed().as_nanos() as u64);
                let mut samples = Samples::default();
                while Instant::now() < end {
                    let keys: [Key; 3] = std::array::from_fn(|_| record(numbers.below(RECORDS)));
                    let began = Instant::now();
                    modify(&engine, &keys).await;
                    samples.push(began.elapsed());
                }
                samples
            })
        })
        .collect();
    let mut samples = Samples::default();
    for task in tasks {
        samples.extend(task.await.expect("runs"));
    }
    let after = engine.stats();
    let groups = (after.groups - before.groups) as f64;
    let transactions = (after.transactions - before.transactions) as f64;
    (samples.len() as f64 / began.elapsed().as_secs_f64(), samples, transactions / groups)
}

async fn modify(engine: &Engine, keys: &[Key; 3]) {
    let done: Result<(), EngineError> = engine
        .run(None, |reader| async move {
            let mut plan = Plan::new(());
            for key in keys {
                let mut value = reader
                    .get(key.clone())
                    .await?
                    .map_or_else(|| vec![0; VALUE], |entry| entry.value.to_vec());
                value[0] = value[0].wrapping_add(1);
                plan.put(key.clone(), value);
            }
            Ok(plan)
        })
        .await;
    done.expect("commits");
}

pub fn record(n: u64) -> Key {
    format!("record/{n:016}").into()
}

/// Operations a second if nothing but the disk took time.
fn bare_round(dir: &Path, group: f64, time: Duration) -> f64 {
    let bytes = vec![0x5A; (group * BYTES) as usize];
    let path = dir.join("bare");
    let mut file = File::create(&path).expect("a file");
    let began = Instant::now();
    let mut groups = 0.0;
    while began.elapsed() < time {
        file.write_all(&bytes).expect("appends");
        file.sync_data().expect("syncs");
        groups += 1.0;
    }
    groups * group / began.elapsed().as_secs_f64()
}
