//! kill -9 under load. Each writer alone owns its blobs, so it knows what must be there after every restart: what
//! was acknowledged last, or what was under way when the server died, and nothing else.

mod state;
mod writer;

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Trial;
use crate::blob;
use crate::options::Options;
use crate::random::Random;
use crate::server::Launch;
use crate::wire::Client;
use writer::Writer;

const WRITERS: u64 = 8;

pub async fn run(options: &Options) -> Trial<String> {
    let mut random = Random::new(options.seed);
    let launch = Launch::new(options, "kill")?;
    let mut server = launch.start()?;
    Client::new(server.blob).must(&blob::create_container()).await?.expect(201, "Create Container")?;
    let mut writers: Vec<Writer> = (0..WRITERS).map(|number| Writer::new(number, random.fork())).collect();
    let mut slowest = Duration::ZERO;
    for cycle in 1..=options.cycles {
        let failed = |reason| format!("cycle {cycle}: {reason}");
        let address = server.blob;
        let mut work = JoinSet::new();
        for mut writer in writers.drain(..) {
            work.spawn(async move { writer.write(address).await.map(|()| writer) });
        }
        tokio::time::sleep(Duration::from_millis(random.between(50, 700))).await;
        server.must_run().map_err(failed)?;
        server.kill();
        while let Some(writer) = work.join_next().await {
            writers.push(writer.map_err(|error| error.to_string())?.map_err(failed)?);
        }
        let started = Instant::now();
        server = launch.start().map_err(failed)?;
        slowest = slowest.max(started.elapsed());
        let address = server.blob;
        let last = cycle == options.cycles;
        let mut checks = JoinSet::new();
        for mut writer in writers.drain(..) {
            checks.spawn(async move { writer.check(address, last).await.map(|()| writer) });
        }
        while let Some(writer) = checks.join_next().await {
            writers.push(writer.map_err(|error| error.to_string())?.map_err(failed)?);
        }
    }
    server.stop().await?;
    let acknowledged: u64 = writers.iter().map(|writer| writer.acknowledged).sum();
    let open: u64 = writers.iter().map(|writer| writer.open).sum();
    if acknowledged < options.cycles {
        return Err(format!("only {acknowledged} acknowledged writes: no load"));
    }
    Ok(format!(
        "{} kills, {acknowledged} acknowledged writes, 0 lost ({open} unanswered); slowest start {} ms",
        options.cycles,
        slowest.as_millis()
    ))
}
