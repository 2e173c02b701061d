//! Many connections doing the same until the time is over.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Outcome;
use crate::meter::{Cost, Meter, quiet};
use crate::request::Request;
use crate::wire::Connection;
use crate::workload::Scene;

pub struct Measured {
    pub operations: u64,
    /// Bytes, names or entities that all operations moved; 0 when only operations count.
    pub moved: u64,
    pub cost: Cost,
    /// Of each operation, sorted.
    pub latencies: Vec<Duration>,
}

impl Measured {
    /// Two turns as one.
    pub fn and(mut self, next: Self) -> Self {
        self.operations += next.operations;
        self.moved += next.moved;
        self.cost = self.cost.and(&next.cost);
        self.latencies.extend(next.latencies);
        self.latencies.sort_unstable();
        self
    }

    pub fn percentile(&self, part: f64) -> Duration {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get((last as f64 * part).round() as usize).copied().unwrap_or_default()
    }

    pub fn per_second(&self) -> f64 {
        self.operations as f64 / self.cost.seconds
    }

    /// Seconds that an operation took.
    pub fn mean(&self) -> f64 {
        self.latencies.iter().sum::<Duration>().as_secs_f64() / self.operations.max(1) as f64
    }
}

/// What one connection did.
#[derive(Default)]
pub struct Done {
    pub moved: u64,
    pub latencies: Vec<Duration>,
}

impl Done {
    pub fn note(&mut self, began: Instant, moved: u64) {
        self.latencies.push(began.elapsed());
        self.moved += moved;
    }
}

/// Connects, waits for quiet, and lets `each` connection work until the instant that it is told.
pub async fn measure<F, R>(scene: &Scene<'_>, connections: usize, mut each: F) -> Outcome<Measured>
where
    F: FnMut(usize, Connection, Instant) -> R,
    R: Future<Output = io::Result<Done>> + Send + 'static,
{
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push(Connection::open(scene.at).await?);
    }
    let processes: Vec<u32> = scene.all.iter().map(|server| server.process()).collect();
    quiet(&processes).await;
    let meter = Meter::start(scene.server.process());
    let until = Instant::now() + scene.run.time();
    let mut working = JoinSet::new();
    for (at, connection) in open.into_iter().enumerate() {
        working.spawn(each(at, connection, until));
    }
    let mut latencies = Vec::new();
    let mut moved = 0;
    while let Some(done) = working.join_next().await {
        let done = done??;
        moved += done.moved;
        latencies.extend(done.latencies);
    }
    let cost = meter.stop();
    latencies.sort_unstable();
    Ok(Measured { operations: latencies.len() as u64, moved, cost, latencies })
}

/// Each connection sends its own requests in turn, from the first again after the last.
pub async fn cycle(scene: &Scene<'_>, pools: Vec<Vec<Request>>, status: u16) -> Outcome<Measured> {
    let mut pools = pools.into_iter();
    measure(scene, pools.len(), |_, mut connection, until| {
        let pool = pools.next().unwrap_or_default();
        async move {
            let mut done = Done::default();
            for request in pool.iter().cycle() {
                let began = Instant::now();
                if began >= until {
                    break;
                }
                let answer = connection.exchange(request).await?;
                if answer.status != status {
                    connection.expect(request, status).await?;
                }
                done.note(began, answer.length.max(request.body.len() as u64));
            }
            Ok(done)
        }
    })
    .await
}

/// Sends each of `count` requests once, untimed, over many connections.
pub async fn fill<F>(address: std::net::SocketAddr, count: usize, status: u16, request: F) -> Outcome
where
    F: Fn(usize) -> Request + Send + Sync + 'static,
{
    const CONNECTIONS: usize = 32;
    let request = Arc::new(request);
    let next = Arc::new(AtomicUsize::new(0));
    let mut working = JoinSet::new();
    for _ in 0..CONNECTIONS.min(count) {
        let (request, next) = (request.clone(), next.clone());
        let mut connection = Connection::open(address).await?;
        working.spawn(async move {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count {
                    return io::Result::Ok(());
                }
                let request = request(at);
                let answer = connection.exchange(&request).await?;
                // 204: nginx, of a file that was there.
                if answer.status != status && answer.status != 204 {
                    connection.expect(&request, status).await?;
                }
            }
        });
    }
    while let Some(done) = working.join_next().await {
        done??;
    }
    Ok(())
}
