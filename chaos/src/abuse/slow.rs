//! Slowloris: thousands of connections that send next to nothing, for ever.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{Times, ordinary, prepare, serves};
use crate::Trial;
use crate::blob;
use crate::options::Options;
use crate::server::{Launch, most_descriptors};
use crate::wire::connect;

const CROWD: u64 = 10_000;
/// Connections opened at a time.
const AT_ONCE: u64 = 200;

#[derive(Clone, Copy)]
enum Habit {
    /// A head that never ends.
    Head,
    /// Nothing at all.
    Silence,
    /// A body of which a byte comes now and then.
    Body,
}

pub async fn run(options: &Options) -> Trial<String> {
    let crowd = CROWD.min(most_descriptors().saturating_sub(600));
    let launch = Launch::new(options, "slow")?;
    let mut server = launch.start()?;
    prepare(&server).await?;
    let started = Instant::now();
    let mut sockets = Vec::new();
    let mut number = 0;
    while number < crowd {
        let mut opening = JoinSet::new();
        for _ in 0..AT_ONCE.min(crowd - number) {
            opening.spawn(open(server.blob, number));
            number += 1;
        }
        while let Some(socket) = opening.join_next().await {
            sockets.extend(socket.ok().flatten());
        }
    }
    let opened = sockets.len();
    let opening_took = started.elapsed();
    let trickling = tokio::spawn(trickle(sockets));
    let end = Instant::now() + Duration::from_secs(if options.long { 60 } else { 6 });
    let served: Trial<Times> = ordinary(server.blob, 8, end).await;
    trickling.abort();
    let mut times = served.map_err(|reason| format!("with {opened} slow connections: {reason}"))?;
    server.must_run()?;
    let memory = server.peak_memory() >> 20;
    serves(&mut server).await?;
    if times.worst() > Duration::from_secs(5) {
        return Err(format!("somebody waited {:?} behind {opened} slow connections", times.worst()));
    }
    if (opened as u64) < crowd * 9 / 10 {
        return Err(format!("only {opened} of {crowd} slow connections got in"));
    }
    server.stop().await?;
    let opening = opening_took.as_secs_f64();
    Ok(format!("{opened} slow connections (in {opening:.1} s), others: {}, {memory} MiB", times.shown()))
}

async fn open(address: SocketAddr, number: u64) -> Option<(TcpStream, Habit)> {
    let mut stream = timeout(Duration::from_secs(10), connect(address)).await.ok()?.ok()?;
    // More heads and bodies than a server takes connections by default: some must be made to leave.
    let habit = match number % 8 {
        0..=5 => Habit::Head,
        6 => Habit::Silence,
        _ => Habit::Body,
    };
    let opening = match habit {
        Habit::Head => "GET /devstoreaccount1/chaos/witness HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ".to_owned(),
        Habit::Silence => String::new(),
        Habit::Body => blob::put(&format!("slow/{number}"), "").head(1 << 20),
    };
    stream.write_all(opening.as_bytes()).await.ok()?;
    Some((stream, habit))
}

/// A byte for each, again and again; whoever was thrown out stays out.
async fn trickle(mut sockets: Vec<(TcpStream, Habit)>) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        for (socket, habit) in &mut sockets {
            if !matches!(habit, Habit::Silence) {
                let _ = socket.try_write(b"x");
            }
        }
    }
}
