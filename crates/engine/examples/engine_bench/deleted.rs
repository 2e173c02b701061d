//! A list of one key behind many deleted ones: right after the deletions, and a second later.

use crate::Settings;
use crate::commits::record;
use crate::table::{Samples, head, line};
use lazuli_engine::{Engine, EngineError, Host, Key, KeyRange, Options, Plan, Scan};
use std::time::{Duration, Instant};

const DELETED: u64 = 60_000;
const IN_COMMIT: u64 = 1_000;
const TURNS: usize = 50;

pub async fn run(settings: &Settings) {
    head(&format!("A list of one key among {DELETED} deleted ones"));
    let dir = tempfile::tempdir_in(&settings.dir).expect("a directory");
    let engine = Engine::open(dir.path(), Options::default(), Host::real()).expect("opens");
    let one = Key::from_static(b"~");
    change(&engine, |plan| plan.put(one.clone(), "live")).await;
    for from in (0..DELETED).step_by(IN_COMMIT as usize) {
        change(&engine, |plan| (from..from + IN_COMMIT).for_each(|n| plan.put(record(n), vec![7; 300])))
            .await;
    }
    let began = Instant::now();
    for from in (0..DELETED).step_by(IN_COMMIT as usize) {
        change(&engine, |plan| (from..from + IN_COMMIT).for_each(|n| plan.delete(record(n)))).await;
    }
    let deletes = DELETED as f64 / began.elapsed().as_secs_f64();
    println!("  {:<44} {deletes:>10.0} /s", "deletes, a thousand in a commit");
    list(&engine, "the first list", 1).await;
    list(&engine, "the next ones", TURNS).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    list(&engine, "a second later", TURNS).await;
    engine.close().await.expect("closes");
    drop(engine);
    let engine = Engine::open(dir.path(), Options::default(), Host::real()).expect("opens");
    list(&engine, "the first after a restart", 1).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    list(&engine, "a second after a restart", TURNS).await;
}

async fn list(engine: &Engine, what: &str, turns: usize) {
    let mut samples = Samples::default();
    let began = Instant::now();
    for _ in 0..turns {
        let reader = engine.reader().await.expect("reads");
        let turn = Instant::now();
        let page = reader.scan(Scan::of(KeyRange { start: Key::new(), end: None })).await.expect("scans");
        samples.push(turn.elapsed());
        assert_eq!(page.items.len(), 1);
    }
    line(what, turns as f64 / began.elapsed().as_secs_f64(), &mut samples, "");
}

async fn change(engine: &Engine, change: impl Fn(&mut Plan<()>) + Send + Sync) {
    let change = &change;
    let plan = |_| async move {
        let mut plan = Plan::new(());
        change(&mut plan);
        Ok::<_, EngineError>(plan)
    };
    engine.run(None, plan).await.expect("commits");
}
