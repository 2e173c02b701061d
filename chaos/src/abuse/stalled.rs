//! Uploads whose senders stall in the middle: they keep no memory from an ordinary large upload.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{prepare, serves};
use crate::Trial;
use crate::blob;
use crate::options::Options;
use crate::server::Launch;
use crate::wire::{Client, connect};

const STALLED: u64 = 32;
const ANNOUNCED: u64 = 100 << 20;
const SENT: usize = 3 << 20;
/// More than an upload gets by with in small pieces.
const LARGE: usize = 48 << 20;
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn run(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "stalled")?;
    let mut server = launch.start()?;
    prepare(&server).await?;
    let mut stalled = Vec::new();
    for number in 0..STALLED {
        stalled.push(stall(server.blob, number).await.map_err(|error| format!("upload {number}: {error}"))?);
    }
    let body = blob::content(7, LARGE);
    let mut client = Client::new(server.blob);
    let rounds = if options.long { 10 } else { 1 };
    let mut slowest = Duration::ZERO;
    for _ in 0..rounds {
        let started = Instant::now();
        let put = timeout(PATIENCE, client.must(&blob::put("large", body.clone()))).await;
        put.map_err(|_| format!("a large upload waits for {STALLED} stalled ones"))??
            .expect(201, "a large upload")?;
        slowest = slowest.max(started.elapsed());
        let found = client.must(&blob::get("large")).await?.expect(200, "reading it")?;
        if found.body != body {
            return Err("the large upload has other bytes".to_owned());
        }
    }
    let memory = server.peak_memory() >> 20;
    drop(stalled);
    serves(&mut server).await?;
    server.stop().await?;
    Ok(format!(
        "{STALLED} stalled, {rounds} of {} MiB meanwhile, slowest {:.1} s; {memory} MiB",
        LARGE >> 20,
        slowest.as_secs_f64()
    ))
}

async fn stall(address: SocketAddr, number: u64) -> std::io::Result<TcpStream> {
    let mut stream = connect(address).await?;
    let head = blob::put(&format!("stalled/{number}"), "").head(ANNOUNCED);
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&blob::content(number, SENT)).await?;
    Ok(stream)
}
