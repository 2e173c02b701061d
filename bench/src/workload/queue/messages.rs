//! Messages put into one queue, and taken from it.

use std::io;
use std::time::Instant;

use lazuli_testing::Signer;
use lazuli_testing::xml::element;

use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, Request};
use crate::servers::Server;
use crate::wire::Connection;
use crate::workload::Scene;
use crate::workload::content::text;

const SIZE: usize = 1024;

/// One request for all: nothing in it names the message.
pub fn put_message(queue: &str) -> Request {
    let message = format!("<QueueMessage><MessageText>{}</MessageText></QueueMessage>", text(SIZE));
    let path = format!("/{queue}/messages");
    Draft::new("POST", &path).typed_body("application/xml", message.into()).sign(&Signer::development())
}

pub async fn fill(server: &Server, queue: &str, count: usize) -> Outcome {
    let put = put_message(queue);
    load::fill(server.address(), count, 201, move |_| put.clone()).await
}

/// Into an empty queue, which is gone afterwards: the emulator keeps the messages of all queues in one place, and
/// getting one costs it all of them.
pub async fn put(scene: &Scene<'_>) -> Outcome<Measured> {
    const QUEUE: &str = "put";
    scene.server.create_queue(QUEUE).await?;
    let measured = load::cycle(scene, vec![vec![put_message(QUEUE)]; scene.run.connections], 201).await?;
    let delete = Draft::new("DELETE", &format!("/{QUEUE}")).sign(&Signer::development());
    Connection::open(scene.server.address()).await?.expect(&delete, 204).await?;
    Ok(measured)
}

/// From a queue of `--depth` messages at the beginning, until the time is over or none is left.
pub async fn get_and_delete(scene: &Scene<'_>, clients: usize) -> Outcome<Measured> {
    const QUEUE: &str = "depth";
    scene.server.create_queue(QUEUE).await?;
    let began = Instant::now();
    let missing = scene.run.depth.saturating_sub(count(scene.server, QUEUE).await?);
    fill(scene.server, QUEUE, missing).await?;
    let (kind, seconds) = (scene.server.kind(), began.elapsed().as_secs_f64());
    eprintln!("{kind}: {missing} messages put in {seconds:.0} s, {} there", scene.run.depth);
    load::measure(scene, clients, |_, connection, until| async move {
        let mut taker = Taker::new(connection, QUEUE);
        let mut done = Done::default();
        loop {
            let began = Instant::now();
            if began >= until || !taker.take().await? {
                return Ok(done);
            }
            done.note(began, 0);
        }
    })
    .await
}

/// How many messages there are.
async fn count(server: &Server, queue: &str) -> Outcome<usize> {
    let ask = Draft::new("GET", &format!("/{queue}")).query("comp", "metadata").sign(&Signer::development());
    Ok(Connection::open(server.address()).await?.expect(&ask, 200).await?.messages)
}

/// A client that gets one message at a time and deletes it.
pub struct Taker {
    pub connection: Connection,
    queue: &'static str,
    signer: Signer,
    get: Request,
    body: Vec<u8>,
}

impl Taker {
    pub fn new(connection: Connection, queue: &'static str) -> Self {
        let signer = Signer::development();
        let path = format!("/{queue}/messages");
        let get = Draft::new("GET", &path).query("visibilitytimeout", "600").sign(&signer);
        Self { connection, queue, signer, get, body: Vec::new() }
    }

    /// Whether there was one.
    pub async fn take(&mut self) -> io::Result<bool> {
        let answer = self.connection.exchange_into(&self.get, &mut self.body).await?;
        if answer.status != 200 {
            return Err(io::Error::other(format!("get messages: {}", answer.status)));
        }
        // Ids and receipts of both servers need no unescaping.
        let text = std::str::from_utf8(&self.body).unwrap_or_default();
        let (id, receipt) = (element(text, "MessageId"), element(text, "PopReceipt"));
        if id.is_empty() {
            return Ok(false);
        }
        let path = format!("/{}/messages/{id}", self.queue);
        let delete = Draft::new("DELETE", &path).query("popreceipt", receipt).sign(&self.signer);
        self.connection.expect(&delete, 204).await?;
        Ok(true)
    }
}
