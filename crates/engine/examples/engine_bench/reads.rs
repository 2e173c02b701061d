//! Reads and a queue, in a small store and in a large one: the size must hardly matter.

use crate::Settings;
use crate::commits::record;
use crate::table::{Numbers, Samples, cpu, head, line};
use lazuli_engine::{Engine, EngineError, Host, Key, KeyRange, Options, Plan, Scan, Txn, Write};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

const SMALL: u64 = 10_000;
const DEPTH: u64 = 100_000;
const PAGE: usize = 5_000;

pub async fn opening(settings: &Settings) {
    head("Opening");
    let dir = tempfile::tempdir_in(&settings.dir).expect("a directory");
    for (what, path) in [("an empty directory", "a"), ("the same again", "a"), ("another", "b")] {
        let began = Instant::now();
        let engine = Engine::open(&dir.path().join(path), Options::default(), Host::real()).expect("opens");
        let mut samples = Samples::default();
        samples.push(began.elapsed());
        line(what, 1.0 / began.elapsed().as_secs_f64(), &mut samples, "");
        engine.close().await.expect("closes");
    }
}

pub async fn run(settings: &Settings) {
    let mut results: Vec<[f64; 3]> = vec![];
    for keys in [SMALL, settings.keys] {
        head(&format!("Reads with {keys} keys (24 B, 300 B values)"));
        let dir = tempfile::tempdir_in(&settings.dir).expect("a directory");
        let kept = settings.keep.as_ref().filter(|_| keys > SMALL);
        let path = kept.map_or(dir.path(), |kept| kept);
        let open = || Engine::open(path, options(keys, settings.memtable), Host::real()).expect("opens");
        let engine = open();
        if engine.stats().transactions == 0 {
            load(&engine, keys).await;
        }
        engine.close().await.expect("closes");
        drop(engine);
        // From the start again, as a server would find it.
        let began = Instant::now();
        let engine = open();
        println!("  opened in {:.0} ms", began.elapsed().as_secs_f64() * 1e3);
        settle(&engine).await;
        let gets = gets(settings, &engine, keys).await;
        let scans = scans(settings, &engine, keys).await;
        let fifo = fifo(settings, &engine).await;
        results.push([gets, scans, fifo]);
        engine.close().await.expect("closes");
    }
    if let [small, large] = &results[..] {
        head(&format!("From {SMALL} to {} keys, slower by a factor of (bar: 1.5)", settings.keys));
        for (what, n) in [("point get, CPU", 0), ("scan of 5,000, CPU", 1), ("queue cycle", 2)] {
            println!("  {what:<44} {:>10.2}", large[n] / small[n]);
        }
    }
}

/// The same path is measured for both: a smaller memtable puts the keys of the small store into tables as
/// well, and the caches have room for the large one.
fn options(keys: u64, memtable: u64) -> Options {
    let memory = Options { cache_bytes: 1 << 30, row_cache_bytes: 1 << 30, ..Options::default() };
    let default = Options { memtable_bytes: memtable << 20, ..memory };
    if keys == SMALL { Options { memtable_bytes: 256 << 10, ..default } } else { default }
}

/// In random order, as objects come.
pub async fn load(engine: &Engine, keys: u64) {
    let began = Instant::now();
    // A permutation: an odd multiplier modulo a power of two, skipping what lies beyond.
    let size = keys.next_power_of_two();
    let mut order = (0..size).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15 | 1) % size).filter(|n| *n < keys);
    loop {
        let writes: Vec<_> = order.by_ref().take(1_000).map(|n| Write::Put(record(n), value(n))).collect();
        if writes.is_empty() {
            break;
        }
        commit(engine, writes).await;
    }
    println!("  loaded, {:.0} keys/s", keys as f64 / began.elapsed().as_secs_f64());
}

fn value(n: u64) -> Key {
    let mut value = format!("{n:020} some text that compresses about as well as metadata does ").repeat(4);
    value.truncate(300);
    value.into()
}

pub async fn commit(engine: &Engine, writes: Vec<Write>) {
    let txn = Txn { writes, ..Txn::new(engine.new_txn_id()) };
    engine.commit(txn).await.expect("commits");
}

/// Lets compaction end, and fills the cache.
async fn settle(engine: &Engine) {
    tokio::time::sleep(Duration::from_secs(3)).await;
    let reader = engine.reader().await.expect("a reader");
    let mut scan =
        Scan { limit: PAGE, max_bytes: usize::MAX, ..Scan::of(KeyRange::new("record/", "record0")) };
    loop {
        let page = reader.scan(scan.clone()).await.expect("scans");
        scan.after = page.items.last().map(|(key, _)| key.clone());
        for (key, _) in &page.items {
            reader.get_untracked(key.clone()).await.expect("reads");
        }
        if !page.more {
            return;
        }
    }
}

async fn gets(settings: &Settings, engine: &Engine, keys: u64) -> f64 {
    let mut numbers = Numbers(1);
    let mut samples = Samples::default();
    let reader = engine.reader().await.expect("a reader");
    let (began, worked) = (Instant::now(), cpu());
    while began.elapsed() < settings.time {
        let key = record(numbers.below(keys));
        let one = Instant::now();
        assert!(reader.get_untracked(key).await.expect("reads").is_some());
        samples.push(one.elapsed());
    }
    let speed = samples.len() as f64 / began.elapsed().as_secs_f64();
    let each = (cpu() - worked).as_secs_f64() / samples.len() as f64;
    line("point get, 1 client", speed, &mut samples, &format!("{:.2} us of CPU each", each * 1e6));
    each
}

async fn scans(settings: &Settings, engine: &Engine, keys: u64) -> f64 {
    let mut numbers = Numbers(2);
    let mut samples = Samples::default();
    let (began, worked) = (Instant::now(), cpu());
    while began.elapsed() < settings.time {
        let start = record(numbers.below(keys - PAGE as u64));
        let one = Instant::now();
        let reader = engine.reader().await.expect("a reader");
        let scan = Scan {
            range: KeyRange::new(start, "record0"),
            after: None,
            limit: PAGE,
            max_bytes: usize::MAX,
            reverse: false,
            keys_only: false,
        };
        assert_eq!(reader.scan(scan).await.expect("scans").items.len(), PAGE);
        samples.push(one.elapsed());
    }
    let speed = samples.len() as f64 / began.elapsed().as_secs_f64();
    let each = (cpu() - worked).as_secs_f64() / samples.len() as f64;
    line("scan of 5,000, 1 client", speed, &mut samples, &format!("{:.2} ms of CPU each", each * 1e3));
    each
}

/// A queue that stays 100,000 deep: 16 clients each add one at the tail and take one at the head. The head
/// is found by a scan from a hint, never from the queue's beginning, which is full of what was deleted.
async fn fifo(settings: &Settings, engine: &Engine) -> f64 {
    let entry = |n: u64| Key::from(format!("queue/{n:016}"));
    let mut filled = 0;
    while filled < DEPTH {
        let writes = (filled..filled + 1_000).map(|n| Write::Put(entry(n), value(n))).collect();
        commit(engine, writes).await;
        filled += 1_000;
    }
    let tail = std::sync::atomic::AtomicU64::new(DEPTH);
    let (mut head_at, mut taken): (u64, VecDeque<Key>) = (0, VecDeque::new());
    let mut samples = Samples::default();
    let began = Instant::now();
    while began.elapsed() < settings.time * 2 {
        let one = Instant::now();
        let reader = engine.reader().await.expect("a reader");
        let scan = Scan { limit: 64, ..Scan::of(KeyRange::new(entry(head_at), "queue0")) };
        let page = reader.scan(scan).await.expect("scans");
        taken.extend(page.items.into_iter().map(|(key, _)| key));
        head_at += 64;
        let cycles = taken.drain(..).map(|head| {
            let n = tail.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let engine = engine.clone();
            tokio::spawn(async move {
                let done: Result<(), EngineError> = engine
                    .run(None, |reader| {
                        let head = head.clone();
                        async move {
                            assert!(reader.get(head.clone()).await?.is_some());
                            let mut plan = Plan::new(());
                            plan.delete(head);
                            plan.put(Key::from(format!("queue/{n:016}")), value(n));
                            Ok(plan)
                        }
                    })
                    .await;
                done.expect("commits");
            })
        });
        let cycles: Vec<_> = cycles.collect();
        let count = cycles.len() as u32;
        for cycle in cycles {
            cycle.await.expect("runs");
        }
        let mean = one.elapsed() / count;
        (0..count).for_each(|_| samples.push(mean));
    }
    let speed = samples.len() as f64 / began.elapsed().as_secs_f64();
    line("queue 100,000 deep: add + take, 64 clients", speed, &mut samples, "");
    1.0 / speed
}
