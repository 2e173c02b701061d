//! Chunk writes, each published by a commit of its own.

use crate::Settings;
use crate::table::{Samples, head, line};
use bytes::Bytes;
use lazuli_engine::{Engine, EngineError, Host, Options, Plan};
use std::time::Instant;

pub async fn run(settings: &Settings) {
    head("Chunk write + commit (durable), and read of a chunk");
    let dir = tempfile::tempdir_in(&settings.dir).expect("a directory");
    let engine = Engine::open(dir.path(), Options::default(), Host::real()).expect("opens");
    for (name, len) in [("64 KiB", 64 << 10), ("4 MiB", 4 << 20)] {
        for clients in [1_u64, 16] {
            writes(settings, &engine, name, len, clients).await;
        }
    }
    engine.close().await.expect("closes");
}

async fn writes(settings: &Settings, engine: &Engine, name: &str, len: usize, clients: u64) {
    let payload = Bytes::from((0..len).map(|n| (n * 31) as u8).collect::<Vec<_>>());
    let began = Instant::now();
    let end = began + settings.time;
    let tasks: Vec<_> = (0..clients)
        .map(|client| {
            let (engine, payload) = (engine.clone(), payload.clone());
            tokio::spawn(async move {
                let mut samples = Samples::default();
                let mut old = None;
                while Instant::now() < end {
                    let began = Instant::now();
                    let written = engine.extents().write(payload.clone()).await.expect("writes");
                    let id = written.id;
                    let release = old;
                    let done: Result<(), EngineError> = engine
                        .run(None, |_| async move {
                            let mut plan = Plan::new(());
                            plan.put(format!("chunk/{client}"), "");
                            plan.publish.push(id);
                            plan.release.extend(release);
                            Ok(plan)
                        })
                        .await;
                    done.expect("commits");
                    old = Some(id);
                    samples.push(began.elapsed());
                }
                (samples, old)
            })
        })
        .collect();
    let mut samples = Samples::default();
    let mut last = None;
    for task in tasks {
        let (mine, old) = task.await.expect("runs");
        samples.extend(mine);
        last = last.or(old);
    }
    let speed = samples.len() as f64 / began.elapsed().as_secs_f64();
    let remark = format!("{:.0} MB/s", speed * len as f64 / 1e6);
    line(&format!("write {name}, {clients} clients"), speed, &mut samples, &remark);
    if let Some(id) = last
        && clients == 1
    {
        let mut samples = Samples::default();
        let began = Instant::now();
        while began.elapsed() < settings.time / 4 {
            let one = Instant::now();
            engine.extents().read(id, 0..len as u32).await.expect("reads");
            samples.push(one.elapsed());
        }
        let speed = samples.len() as f64 / began.elapsed().as_secs_f64();
        line(&format!("read {name}"), speed, &mut samples, &format!("{:.0} MB/s", speed * len as f64 / 1e6));
    }
}
