//! A message costs the same to get and delete in a queue of 100 and of very many.

use std::time::Instant;

use super::messages::{Taker, fill, put_message};
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::options::Run;
use crate::servers::Server;
use crate::workload::{Growth, Scene};

const QUEUE: &str = "growth";
const FEW: usize = 100;

pub async fn measure(server: &Server, run: &Run) -> Outcome<Growth> {
    server.create_queue(QUEUE).await?;
    let many = run.growth.max(FEW);
    // Long enough for the store to flush and to compact some times.
    let run = &Run { seconds: run.seconds * 3.0, ..run.clone() };
    let scene = Scene { server, at: server.address(), all: std::slice::from_ref(server), run };
    fill(server, QUEUE, FEW).await?;
    let few = [take(&scene, 1).await?, take(&scene, 16).await?];
    let began = Instant::now();
    fill(server, QUEUE, many - FEW).await?;
    let seconds = began.elapsed().as_secs_f64();
    eprintln!("{} messages in {seconds:.0} s: {:.0} /s", many - FEW, (many - FEW) as f64 / seconds);
    let beside_many = [take(&scene, 1).await?, take(&scene, 16).await?];
    let names = ["get+delete 1 client", "get+delete 16 clients"];
    let rows = names.into_iter().zip(few).zip(beside_many).map(|((name, few), many)| (name, few, many));
    Ok(Growth { of: "messages", stored: [FEW, many], rows: rows.collect() })
}

/// Whoever took a message puts one back, so that the queue stays as deep as it is. Only the taking is timed; rate
/// and CPU are of the three requests.
async fn take(scene: &Scene<'_>, clients: usize) -> Outcome<Measured> {
    load::measure(scene, clients, |_, connection, until| async move {
        let (mut taker, put) = (Taker::new(connection, QUEUE), put_message(QUEUE));
        let mut done = Done::default();
        while Instant::now() < until {
            let began = Instant::now();
            if taker.take().await? {
                done.note(began, 0);
                taker.connection.expect(&put, 201).await?;
            }
        }
        Ok(done)
    })
    .await
}
