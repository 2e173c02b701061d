//! A server with 256 file descriptors, and more clients than that: some idle, some at work.

use std::time::{Duration, Instant};

use super::{ordinary, prepare, serves};
use crate::Trial;
use crate::options::Options;
use crate::server::Launch;
use crate::wire::connect;

const DESCRIPTORS: u32 = 256;
const IDLE: usize = 400;
const BUSY: u64 = 60;

pub async fn run(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "descriptors")?.with_descriptors(DESCRIPTORS);
    let mut server = launch.start()?;
    prepare(&server).await?;
    let mut idle = Vec::new();
    for _ in 0..IDLE {
        idle.push(connect(server.blob).await.map_err(|error| format!("an idle client: {error}"))?);
    }
    let end = Instant::now() + Duration::from_secs(if options.long { 30 } else { 4 });
    let mut times = ordinary(server.blob, BUSY, end).await?;
    let open = server.open_descriptors();
    server.must_run()?;
    drop(idle);
    serves(&mut server).await?;
    server.stop().await?;
    Ok(format!("{IDLE} idle and {BUSY} busy clients, {open} descriptors open; {}", times.shown()))
}
