//! Answers that their clients do not read, asked for by anyone: memory stays bounded, and others are served whole lists.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use lazuli_testing::xml::element;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{ordinary, prepare, serves};
use crate::Trial;
use crate::blob;
use crate::options::Options;
use crate::sas::{ACCOUNT, signed};
use crate::server::{Launch, Server};
use crate::wire::{Client, Request, connect};

const CONTAINER: &str = "public";
const BLOBS: u64 = 2000;
const WRITERS: u64 = 16;
/// A page of such names and metadata is as long as pages get.
const METADATA: usize = 7000;
const LISTINGS: usize = 100;
const DOWNLOADS: usize = 200;
const DOWNLOADED: usize = 8 << 20;
const CEILING: u64 = 320 << 20;

pub async fn run(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "unread")?;
    let mut server = launch.start()?;
    prepare(&server).await?;
    fill(&server).await?;
    let before = server.peak_memory();

    let listing = format!("/{ACCOUNT}/{CONTAINER}?restype=container&comp=list&include=metadata");
    let download = format!("/{ACCOUNT}/{CONTAINER}/large");
    let mut unread = Vec::new();
    for _ in 0..LISTINGS {
        unread.push(ask(server.blob, &listing).await?);
    }
    for _ in 0..DOWNLOADS {
        unread.push(ask(server.blob, &download).await?);
    }
    let seconds = if options.long { 90 } else { 3 };
    let mut times = ordinary(server.blob, 4, Instant::now() + Duration::from_secs(seconds)).await?;
    let (found, pages) = list(&server, &listing).await?;
    if found != BLOBS + 1 {
        return Err(format!("a list beside unread ones shows {found} of {} blobs", BLOBS + 1));
    }
    let peak = server.peak_memory();
    drop(unread);
    serves(&mut server).await?;
    server.stop().await?;
    if peak > CEILING {
        return Err(format!("{} MiB resident, from {} before", peak >> 20, before >> 20));
    }
    Ok(format!(
        "{LISTINGS} listings and {DOWNLOADS} downloads unread, a list in {pages} pages, peak {} MiB; others: {}",
        peak >> 20,
        times.shown()
    ))
}

async fn fill(server: &Server) -> Trial {
    let mut client = Client::new(server.blob);
    let create = signed("PUT", CONTAINER, "restype=container").header("x-ms-blob-public-access", "container");
    client.must(&create).await?.expect(201, "Create Container")?;
    let put =
        |name: &str| signed("PUT", &format!("{CONTAINER}/{name}"), "").header("x-ms-blob-type", "BlockBlob");
    let large = put("large").body(blob::content(1, DOWNLOADED));
    client.must(&large).await?.expect(201, "a large blob")?;
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let address = server.blob;
        writers.spawn(async move {
            let mut client = Client::new(address);
            for number in (writer..BLOBS).step_by(WRITERS as usize) {
                let request = signed("PUT", &format!("{CONTAINER}/{number:08}"), "")
                    .header("x-ms-blob-type", "BlockBlob")
                    .header("x-ms-meta-much", "m".repeat(METADATA))
                    .body("x");
                client.must(&request).await?.expect(201, "a small blob")?;
            }
            Trial::Ok(())
        });
    }
    while let Some(done) = writers.join_next().await {
        done.map_err(|error| error.to_string())??;
    }
    Ok(())
}

/// Without a credential, and without ever looking at the answer.
async fn ask(address: SocketAddr, target: &str) -> Trial<TcpStream> {
    let failed = |error: std::io::Error| format!("an unread request: {error}");
    let mut stream = connect(address).await.map_err(failed)?;
    let head = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nx-ms-version: 2023-11-03\r\n\r\n");
    stream.write_all(head.as_bytes()).await.map_err(failed)?;
    Ok(stream)
}

/// How many blobs all pages together show, and how many pages.
async fn list(server: &Server, listing: &str) -> Trial<(u64, u64)> {
    let mut client = Client::new(server.blob);
    let (mut found, mut pages, mut marker) = (0, 0, String::new());
    loop {
        let target = format!("{listing}&marker={marker}");
        let headers = vec![("x-ms-version", "2023-11-03".to_owned())];
        let request = Request { method: "GET", target, headers, ..Request::default() };
        let answer = client.must(&request).await?.expect(200, "a list beside unread ones")?;
        let text = String::from_utf8_lossy(&answer.body);
        found += text.matches("<Blob>").count() as u64;
        pages += 1;
        marker = element(&text, "NextMarker").to_owned();
        if marker.is_empty() || pages > BLOBS {
            return Ok((found, pages));
        }
    }
}
