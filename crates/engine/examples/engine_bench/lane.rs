//! What a lane feels of reads of rows that are in no cache: 16 clients on one thread read at random from a store larger than
//! the caches, and a task beside them sleeps a millisecond at a time. Then the same with nothing of the tables in memory.

use crate::Settings;
use crate::commits::record;
use crate::reads::load;
use crate::table::{Numbers, Samples, head, line};
use lazuli_engine::{Engine, Host, Options};
use std::path::Path;
use std::time::{Duration, Instant};

const CLIENTS: u64 = 16;
const TICK: Duration = Duration::from_millis(1);

pub fn run(settings: &Settings) {
    head(&format!("One lane: {CLIENTS} clients read of {} keys, with the default caches", settings.keys));
    let dir = tempfile::tempdir_in(&settings.dir).expect("a directory");
    let path = settings.keep.as_deref().unwrap_or(dir.path());
    let lane = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    lane.block_on(async {
        let open = || Engine::open(path, Options::default(), Host::real()).expect("opens");
        let engine = open();
        if engine.stats().transactions == 0 {
            load(&engine, settings.keys).await;
        }
        engine.close().await.expect("closes");
        drop(engine);
        for (what, cold) in [("tables in memory", false), ("the same again", false), ("tables on disk", true)]
        {
            let engine = open();
            if cold {
                forget(path);
            }
            measure(settings, &engine, what).await;
            engine.close().await.expect("closes");
        }
    });
}

async fn measure(settings: &Settings, engine: &Engine, what: &str) {
    let end = Instant::now() + settings.time;
    let clients: Vec<_> = (0..CLIENTS)
        .map(|seed| {
            let (engine, keys) = (engine.clone(), settings.keys);
            tokio::spawn(async move {
                let mut numbers = Numbers(seed << 32);
                let mut samples = Samples::default();
                while Instant::now() < end {
                    let one = Instant::now();
                    let reader = engine.reader().await.expect("a reader");
                    let key = record(numbers.below(keys));
                    assert!(reader.get_untracked(key).await.expect("reads").is_some());
                    samples.push(one.elapsed());
                    tokio::task::yield_now().await;
                }
                samples
            })
        })
        .collect();
    let mut late = Samples::default();
    while Instant::now() < end {
        let due = Instant::now() + TICK;
        tokio::time::sleep_until(due.into()).await;
        late.push(due.elapsed());
    }
    let mut samples = Samples::default();
    for client in clients {
        samples.extend(client.await.expect("ends"));
    }
    let speed = samples.len() as f64 / settings.time.as_secs_f64();
    let aside = engine.stats().reads_aside as f64 / samples.len() as f64 * 100.0;
    let late = late.percentile(99.0).as_secs_f64() * 1e3;
    line(what, speed, &mut samples, &format!("{aside:.1} % aside, the lane is {late:.2} ms late (p99)"));
}

/// The system gives up what it has in memory of these files.
fn forget(dir: &Path) {
    for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
        if entry.file_type().expect("is told").is_dir() {
            forget(&entry.path());
        } else if let Ok(file) = std::fs::File::open(entry.path()) {
            let _ = file.sync_all();
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        }
    }
}
