//! A server with 160 file descriptors, a store of many files, and more clients than that: some idle, some at work.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{ordinary, prepare, serves};
use crate::Trial;
use crate::blob;
use crate::options::Options;
use crate::server::{Launch, Server};
use crate::wire::{Client, connect};

const DESCRIPTORS: u32 = 160;
const IDLE: usize = 400;
const BUSY: u64 = 64;
const WRITERS: u64 = 8;
/// In tables, and in extents.
const SMALL: usize = 12 << 10;
const LARGE: usize = 1 << 20;

pub async fn run(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "descriptors")?.with_descriptors(DESCRIPTORS);
    let mut server = launch.start()?;
    prepare(&server).await?;
    // At length: more tables than there are descriptors beside the clients'.
    let (small, large) = if options.long { (3_072, 512) } else { (48, 48) };
    fill(&server, "small", SMALL, small << 20).await?;
    fill(&server, "large", LARGE, large << 20).await?;
    server.must_run().map_err(|reason| format!("filling: {reason}"))?;
    let mut idle = Vec::new();
    for _ in 0..IDLE {
        idle.push(connect(server.blob).await.map_err(|error| format!("an idle client: {error}"))?);
    }
    let end = Instant::now() + Duration::from_secs(if options.long { 20 } else { 4 });
    let mut times = ordinary(server.blob, BUSY, end).await?;
    let open = server.open_descriptors();
    server.must_run()?;
    drop(idle);
    serves(&mut server).await?;
    server.stop().await?;
    Ok(format!(
        "{} MiB stored, {IDLE} idle and {BUSY} busy clients, {open} descriptors open; {}",
        small + large,
        times.shown()
    ))
}

async fn fill(server: &Server, prefix: &'static str, length: usize, bytes: usize) -> Trial {
    let mut writers = JoinSet::new();
    let each = (bytes / length) as u64 / WRITERS;
    let address = server.blob;
    for writer in 0..WRITERS {
        writers.spawn(async move {
            let mut client = Client::new(address);
            for number in 0..each {
                let name = format!("{prefix}/{writer}/{number}");
                client
                    .must(&blob::put(&name, blob::content(number, length)))
                    .await?
                    .expect(201, "a writer")?;
            }
            // Each of the files is read from.
            for number in (0..each).step_by((LARGE / length / 2).max(1)) {
                let name = format!("{prefix}/{writer}/{number}");
                let found = client.must(&blob::get(&name)).await?.expect(200, "a reading")?;
                if found.body != blob::content(number, length) {
                    return Err(format!("{name}: other content"));
                }
            }
            Ok::<_, String>(())
        });
    }
    while let Some(done) = writers.join_next().await {
        done.map_err(|error| error.to_string())??;
    }
    Ok(())
}
