//! A slow upload whose lease is lost half-way: the lease is judged when the write becomes real, not when it begins.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::Trial;
use crate::blob::{self, lease_id};
use crate::options::Options;
use crate::server::{Launch, Server};
use crate::wire::{Answer, Client, Connection, connect};

/// In a record, and in chunks.
const SIZES: [usize; 2] = [8 * 1024, 6 * 1024 * 1024];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    None,
    Broken,
    BrokenAndTaken,
    Released,
    Expired,
    Deleted,
}

impl Loss {
    const ALL: [Self; 6] =
        [Self::None, Self::Broken, Self::BrokenAndTaken, Self::Released, Self::Expired, Self::Deleted];

    fn answer(self) -> (u16, &'static str) {
        match self {
            Self::None => (201, ""),
            Self::Broken | Self::Expired => (412, "LeaseLost"),
            Self::BrokenAndTaken => (412, "LeaseIdMismatchWithBlobOperation"),
            Self::Released | Self::Deleted => (412, "LeaseNotPresentWithBlobOperation"),
        }
    }
}

pub async fn run(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "lease-upload")?.with(&["--test-clock"]);
    let mut server = launch.start()?;
    Client::new(server.blob).must(&blob::create_container()).await?.expect(201, "Create Container")?;
    for size in SIZES {
        for loss in Loss::ALL {
            lose(&server, size, loss).await.map_err(|reason| format!("{loss:?}, {size} bytes: {reason}"))?;
        }
        // The server dies under the upload.
        let name = format!("killed-{size}");
        let (etag, slow) = begin(&server, &name, size).await?;
        server.kill();
        drop(slow);
        server = launch.start()?;
        intact(&mut Client::new(server.blob), &name, &etag).await?;
    }
    server.stop().await?;
    Ok(format!("{} ways to lose it and a kill, {} sizes", Loss::ALL.len() - 1, SIZES.len()))
}

struct Slow {
    stream: TcpStream,
    rest: bytes::Bytes,
}

/// A leased blob, and an upload to it of which half is sent.
async fn begin(server: &Server, name: &str, size: usize) -> Trial<(String, Slow)> {
    let mut client = Client::new(server.blob);
    let etag = client.must(&blob::put(name, "old")).await?.expect(201, name)?.etag();
    client.must(&blob::acquire(name, &lease_id(1), 60)).await?.expect(201, "Lease Blob")?;
    let failed = |error: std::io::Error| format!("the slow upload: {error}");
    let mut stream = connect(server.blob).await.map_err(failed)?;
    let head = blob::put(name, "").header("x-ms-lease-id", lease_id(1)).head(size as u64);
    let mut body = blob::content(7, size);
    let rest = body.split_off(size / 2);
    stream.write_all(head.as_bytes()).await.map_err(failed)?;
    stream.write_all(&body).await.map_err(failed)?;
    stream.flush().await.map_err(failed)?;
    // Long enough for the server to have looked at the lease before it reads the body.
    tokio::time::sleep(Duration::from_millis(150)).await;
    Ok((etag, Slow { stream, rest }))
}

impl Slow {
    async fn finish(mut self) -> Trial<Answer> {
        let failed = |error: std::io::Error| format!("the slow upload: {error}");
        self.stream.write_all(&self.rest).await.map_err(failed)?;
        Connection::new(self.stream).answer("PUT").await.map_err(failed)
    }
}

async fn lose(server: &Server, size: usize, loss: Loss) -> Trial {
    let name = format!("{loss:?}-{size}");
    let (etag, slow) = begin(server, &name, size).await?;
    let mut client = Client::new(server.blob);
    match loss {
        Loss::None => {}
        Loss::Broken | Loss::BrokenAndTaken => {
            client.must(&blob::break_now(&name)).await?.expect(202, "breaking")?;
        }
        Loss::Released => {
            let release = blob::lease(&name, "release").header("x-ms-lease-id", lease_id(1));
            client.must(&release).await?.expect(200, "releasing")?;
        }
        Loss::Expired => blob::advance(server, Duration::from_secs(61)).await?,
        Loss::Deleted => {
            let delete = blob::delete(&name).header("x-ms-lease-id", lease_id(1));
            client.must(&delete).await?.expect(202, "deleting")?;
        }
    }
    if loss == Loss::BrokenAndTaken {
        client.must(&blob::acquire(&name, &lease_id(2), -1)).await?.expect(201, "taking it over")?;
    }
    let answer = slow.finish().await?;
    if (answer.status, answer.code()) != loss.answer() {
        return Err(format!("answered {} instead of {:?}", answer.shown(), loss.answer()));
    }
    match loss {
        Loss::None => {
            let found = client.must(&blob::get(&name)).await?.expect(200, "reading")?;
            if found.body != blob::content(7, size) {
                return Err("the new content is wrong".to_owned());
            }
            Ok(())
        }
        Loss::Deleted => client.must(&blob::get(&name)).await?.expect(404, "reading").map(drop),
        _ => intact(&mut client, &name, &etag).await,
    }
}

async fn intact(client: &mut Client, name: &str, etag: &str) -> Trial {
    let found = client.must(&blob::get(name)).await?.expect(200, "reading the old content")?;
    if found.body != b"old" || found.etag() != etag {
        return Err(format!("{name}: the old content is gone: {} bytes", found.body.len()));
    }
    Ok(())
}
