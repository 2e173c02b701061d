//! Requests that take long to compute, one after another, and small reads beside them on every lane: the readers wait
//! for none of them.

mod loads;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{Times, WITNESS, prepare, serves};
use crate::Trial;
use crate::blob;
use crate::options::Options;
use crate::server::Launch;
use crate::wire::Client;
use loads::Load;

/// More than there are lanes, so that each has some: connections go to the lane that has the fewest.
const READERS: usize = 12;
/// Between two reads of one reader, so that the readers are no load themselves.
const PAUSE: Duration = Duration::from_millis(4);

/// What the readers' p99 may be.
struct Bound {
    /// Beside a load, whatever else the machine does.
    most: Duration,
    /// For each load.
    time: Duration,
}

impl Bound {
    fn of(options: &Options) -> Self {
        match options.long {
            true => Self { most: Duration::from_millis(20), time: Duration::from_secs(10) },
            // A debug build computes twenty times as long, on machines that do other things as well.
            false => Self { most: Duration::from_millis(300), time: Duration::from_millis(1200) },
        }
    }
}

pub async fn run(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "neighbours")?;
    let mut server = launch.start()?;
    prepare(&server).await?;
    let loads = loads::prepare(&server, options.long).await?;
    let bound = Bound::of(options);
    let quiet = beside(server.blob, None, bound.time).await?.0.p99();
    let mut found = Vec::new();
    for load in &loads {
        let (times, done) = beside(server.blob, Some(load), bound.time).await?;
        if done == 0 {
            return Err(format!("{}: not one was answered", load.what));
        }
        found.push((times.p99(), load.what, done));
        server.must_run()?;
    }
    serves(&mut server).await?;
    server.stop().await?;
    found.sort_unstable_by(|one, other| other.cmp(one));
    let shown = |(p99, what, done): &(Duration, &str, u64)| format!("{what} ({done}) {} ms", p99.as_millis());
    let slow: Vec<String> = found.iter().filter(|(p99, ..)| *p99 > bound.most).map(shown).collect();
    if !slow.is_empty() {
        return Err(format!(
            "readers' p99 over {} ms (alone {} ms) beside: {}",
            bound.most.as_millis(),
            quiet.as_millis(),
            slow.join(", ")
        ));
    }
    let all: Vec<String> = found.iter().map(shown).collect();
    Ok(format!("readers' p99 alone {} ms, beside: {}", quiet.as_millis(), all.join(", ")))
}

/// How long small reads take while the load goes on, and how many of its requests were answered.
async fn beside(address: SocketAddr, load: Option<&Load>, time: Duration) -> Trial<(Times, u64)> {
    let over = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for number in 0..READERS {
        let over = over.clone();
        readers.spawn(async move {
            let mut client = Client::new(address);
            client.must(&blob::get(WITNESS)).await?.expect(200, "a small reading")?;
            let mut times = Times::default();
            tokio::time::sleep(PAUSE * number as u32 / READERS as u32).await;
            while !over.load(Ordering::Relaxed) {
                let read = blob::get(WITNESS);
                times.measure(client.must(&read)).await?.expect(200, "a small reading")?;
                tokio::time::sleep(PAUSE).await;
            }
            Trial::Ok(times)
        });
    }
    let end = Instant::now() + time;
    let mut done = 0;
    match load {
        None => tokio::time::sleep(time).await,
        Some(load) => {
            let mut client = Client::new(load.address);
            while Instant::now() < end {
                load.send(&mut client, done).await?;
                done += 1;
            }
        }
    }
    over.store(true, Ordering::Relaxed);
    let mut all = Times::default();
    while let Some(times) = readers.join_next().await {
        all.join(times.map_err(|error| error.to_string())??);
    }
    Ok((all, done))
}
