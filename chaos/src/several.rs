//! Three servers over one engine: the clients of a case turn to another one with each request, and must not be able to tell.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::history::{self, Actor};
use crate::options::Options;
use crate::server::{Doors, Launch};
use crate::wire::{Client, connect};
use crate::{Trial, blob, delivery, transfer};

const SERVERS: u8 = 3;

fn of(options: &Options) -> Options {
    let mut options = options.clone();
    options.servers = SERVERS;
    options
}

pub async fn run<A: Actor>(options: &Options) -> Trial<String> {
    history::run::<A>(&of(options)).await
}

pub async fn transfer(options: &Options) -> Trial<String> {
    transfer::run(&of(options)).await
}

pub async fn delivery(options: &Options) -> Trial<String> {
    delivery::run(&of(options)).await
}

/// More than all buffers on the way take.
const LENGTH: usize = 48 << 20;

/// While one server is read from at leisure, the blob is overwritten through another, again and again, for longer than it
/// takes until what is dead is given back. Every byte is one of those that the download began with.
pub async fn reads(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "several-reads")?.with_servers(SERVERS);
    let mut server = launch.start()?;
    let doors = server.all_doors();
    let [first, others @ ..] = &doors[..] else { return Err("no server".to_owned()) };
    let mut writer = Client::new(first.blob);
    writer.must(&blob::create_container()).await?.expect(201, "Create Container")?;
    writer.must(&blob::put("b", blob::content(0, LENGTH))).await?.expect(201, "Put Blob")?;
    let mut readers = Vec::new();
    for Doors { blob, .. } in others {
        readers.push(tokio::spawn(read_slowly(*blob, Duration::from_secs(15))));
    }
    let (end, mut written) = (Instant::now() + Duration::from_secs(12), 0);
    tokio::time::sleep(Duration::from_secs(1)).await;
    while Instant::now() < end {
        written += 1;
        writer.must(&blob::put("b", blob::content(written, 4 << 20))).await?.expect(201, "Put Blob")?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for reader in readers {
        reader.await.map_err(|error| error.to_string())??;
    }
    server.must_run()?;
    server.stop().await?;
    Ok(format!("{} downloads of {} MiB whole beside {written} overwrites", others.len(), LENGTH >> 20))
}

/// Takes a while for the first half.
async fn read_slowly(address: SocketAddr, time: Duration) -> Trial {
    let failed = |error: std::io::Error| error.to_string();
    let mut stream = connect(address).await.map_err(failed)?;
    stream
        .write_all(blob::get("b").header("Connection", "close").head(0).as_bytes())
        .await
        .map_err(failed)?;
    let mut bytes = Vec::new();
    let mut part = vec![0; 1 << 20];
    let pause = time / (LENGTH as u32 >> 20);
    loop {
        let read = stream.read(&mut part).await.map_err(failed)?;
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(&part[..read]);
        if bytes.len() < LENGTH / 2 {
            tokio::time::sleep(pause).await;
        }
    }
    match bytes.ends_with(&blob::content(0, LENGTH)) {
        true => Ok(()),
        false => Err(format!("{} bytes, and not those that the download began with", bytes.len())),
    }
}
