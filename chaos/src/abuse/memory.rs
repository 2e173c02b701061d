//! Many large uploads at once: memory stays bounded, and small requests are served meanwhile.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use super::{ordinary, prepare, serves};
use crate::Trial;
use crate::blob;
use crate::options::Options;
use crate::server::Launch;
use crate::wire::{Connection, connect};

const UPLOADS: u64 = 200;
const SIZE: u64 = 100 << 20;
const CEILING: u64 = 256 << 20;

pub async fn run(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "memory")?;
    let mut server = launch.start()?;
    prepare(&server).await?;
    let before = server.peak_memory();
    // The long run sends everything, which is 20 GB; the short one leaves when its time is over.
    let end = Instant::now() + Duration::from_secs(if options.long { 1800 } else { 4 });
    let mut uploads = JoinSet::new();
    let part = blob::content(1, 256 << 10);
    for number in 0..UPLOADS {
        uploads.spawn(upload(server.blob, number, part.clone(), end));
    }
    let watch = Instant::now() + Duration::from_secs(if options.long { 60 } else { 4 });
    let mut times = ordinary(server.blob, 4, watch).await?;
    let (mut sent, mut finished) = (0, 0);
    while let Some(upload) = uploads.join_next().await {
        let (bytes, done) = upload.map_err(|error| error.to_string())??;
        sent += bytes;
        finished += u64::from(done);
    }
    let peak = server.peak_memory();
    serves(&mut server).await?;
    server.stop().await?;
    if peak > CEILING {
        return Err(format!("{} MiB resident, from {} at the start", peak >> 20, before >> 20));
    }
    if options.long && finished < UPLOADS {
        return Err(format!("{finished} of {UPLOADS} uploads were finished"));
    }
    Ok(format!(
        "{UPLOADS} uploads, {} MiB sent, {finished} finished, peak {} MiB; others: {}",
        sent >> 20,
        peak >> 20,
        times.shown()
    ))
}

/// What was sent, and whether all of it was acknowledged.
async fn upload(address: SocketAddr, number: u64, part: bytes::Bytes, end: Instant) -> Trial<(u64, bool)> {
    let failed = |error: std::io::Error| format!("upload {number}: {error}");
    let mut stream = connect(address).await.map_err(failed)?;
    let head = blob::put(&format!("large/{number}"), "").head(SIZE);
    stream.write_all(head.as_bytes()).await.map_err(failed)?;
    let mut sent = 0;
    while sent < SIZE {
        match timeout_at(end.into(), stream.write_all(&part)).await {
            Ok(written) => written.map_err(failed)?,
            Err(_) => return Ok((sent, false)),
        }
        sent += part.len() as u64;
    }
    let answer = Connection::new(stream).answer("PUT").await.map_err(failed)?;
    answer.expect(201, "a large upload").map(|_| (sent, true))
}
