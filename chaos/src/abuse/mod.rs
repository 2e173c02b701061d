//! Load, limits, lies and want: the server answers clearly or closes the connection, goes on serving others, and
//! recovers by itself.

pub mod descriptors;
pub mod disk;
pub mod heads;
pub mod lengths;
pub mod memory;
pub mod neighbours;
pub mod reclaim;
pub mod slow;
pub mod stalled;
pub mod unread;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::Trial;
use crate::blob;
use crate::server::Server;
use crate::wire::{Answer, Client, Connection, connect};

/// A blob that others read while somebody misbehaves.
const WITNESS: &str = "witness";

async fn prepare(server: &Server) -> Trial {
    let mut client = Client::new(server.blob);
    client.must(&blob::create_container()).await?.expect(201, "Create Container")?;
    client.must(&blob::put(WITNESS, "seen")).await?.expect(201, "Put Blob").map(drop)
}

/// Whether an ordinary client, on a fresh connection, is served.
async fn serves(server: &mut Server) -> Trial {
    server.must_run()?;
    let mut client = Client::new(server.blob);
    client.must(&blob::put("served", "yes")).await?.expect(201, "an ordinary write")?;
    client.must(&blob::get(WITNESS)).await?.expect(200, "an ordinary reading").map(drop)
}

/// Sends these bytes and takes what comes back: an answer, or None when the connection was closed without one.
async fn raw(address: SocketAddr, bytes: &[u8]) -> Trial<Option<Answer>> {
    let failed = |error: std::io::Error| error.to_string();
    let exchange = async {
        let mut stream = connect(address).await.map_err(failed)?;
        // The server may close before it has read everything.
        let _ = stream.write_all(bytes).await;
        Ok(Connection::new(stream).answer("PUT").await.ok())
    };
    timeout(Duration::from_secs(20), exchange).await.map_err(|_| "neither an answer nor an end in 20 s")?
}

/// Waiting times of requests that were served.
#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    async fn measure<T>(&mut self, work: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let done = work.await;
        self.0.push(started.elapsed());
        done
    }

    fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn shown(&mut self) -> String {
        self.0.sort_unstable();
        let at = |share: usize| self.0.get(self.0.len() * share / 1000).map_or(0, Duration::as_millis);
        format!("{} requests, p50 {} ms, p99 {} ms", self.0.len(), at(500), at(990))
    }

    fn p99(mut self) -> Duration {
        self.0.sort_unstable();
        self.0.get(self.0.len() * 99 / 100).copied().unwrap_or_default()
    }

    fn worst(&self) -> Duration {
        self.0.iter().max().copied().unwrap_or_default()
    }
}

/// Ordinary clients for a while; each must be served.
async fn ordinary(address: SocketAddr, clients: u64, end: Instant) -> Trial<Times> {
    let mut work = tokio::task::JoinSet::new();
    for number in 0..clients {
        work.spawn(async move {
            let mut times = Times::default();
            let mut client = Client::new(address);
            let mut turn = 0u64;
            while Instant::now() < end {
                turn += 1;
                let name = format!("ordinary/{number}");
                let body = blob::content(turn, 2000);
                let put = blob::put(&name, body.clone());
                times.measure(client.must(&put)).await?.expect(201, "an ordinary write")?;
                let found = times.measure(client.must(&blob::get(&name))).await?.expect(200, "a reading")?;
                if found.body != body {
                    return Err(format!("{name}: other content"));
                }
            }
            Ok(times)
        });
    }
    let mut all = Times::default();
    while let Some(times) = work.join_next().await {
        all.join(times.map_err(|error| error.to_string())??);
    }
    Ok(all)
}
