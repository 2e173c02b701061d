//! Clients of one or several servers, in one thread.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use lazuli_testing::Signer;
use lazuli_testing::xml::element;
use tokio::task::JoinSet;

use crate::Outcome;
use crate::request::{Draft, Request};
use crate::wire::Connection;

/// Blobs of each client.
const BLOBS: usize = 16;
const SIZE: usize = 1024;
const LEASE: &str = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Put,
    Get,
    Lease,
    /// A message is put, gotten and deleted.
    Queue,
}

#[derive(Clone, Copy)]
pub struct Load {
    pub work: Work,
    pub clients: usize,
}

impl Load {
    /// Clients are spread over the servers.
    pub fn spread(work: Work, clients: usize) -> Self {
        Self { work, clients }
    }
}

fn put(client: usize, blob: usize) -> Request {
    let path = format!("/bench/{client}/{blob}");
    let draft = Draft::new("PUT", &path).header("x-ms-blob-type", "BlockBlob");
    draft.body(Bytes::from(vec![b'x'; SIZE])).sign(&Signer::development())
}

fn get(client: usize, blob: usize) -> Request {
    Draft::new("GET", &format!("/bench/{client}/{blob}")).sign(&Signer::development())
}

fn lease(client: usize, blob: usize, action: &str) -> Request {
    let path = format!("/bench/{client}/{blob}");
    let draft = Draft::new("PUT", &path).query("comp", "lease").header("x-ms-lease-action", action);
    let draft = match action {
        "acquire" => draft.header("x-ms-lease-duration", "-1").header("x-ms-proposed-lease-id", LEASE),
        _ => draft.header("x-ms-lease-id", LEASE),
    };
    draft.sign(&Signer::development())
}

/// What the work needs is there afterwards.
pub async fn prepare(doors: &[SocketAddr], load: Load) -> Outcome {
    let door = doors.first().ok_or("no server")?;
    let mut connection = Connection::open(*door).await?;
    let made = match load.work {
        Work::Queue => Draft::new("PUT", "/bench").sign(&Signer::development()),
        _ => Draft::new("PUT", "/bench").query("restype", "container").sign(&Signer::development()),
    };
    connection.exchange(&made).await?;
    if load.work == Work::Queue {
        return Ok(());
    }
    for client in 0..load.clients {
        for blob in 0..BLOBS {
            let release = lease(client, blob, "release");
            connection.exchange(&release).await?;
            connection.expect(&put(client, blob), 201).await?;
            if load.work == Work::Lease {
                connection.expect(&lease(client, blob, "acquire"), 201).await?;
            }
        }
    }
    Ok(())
}

/// What a server counts.
pub async fn metrics(admin: SocketAddr) -> Outcome<String> {
    let mut body = Vec::new();
    let head = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".into();
    let request = Request { head, body: Bytes::new(), answered_without_body: false };
    let answer = Connection::open(admin).await?.exchange_into(&request, &mut body).await?;
    match answer.status {
        200 => Ok(String::from_utf8_lossy(&body).into_owned()),
        status => Err(format!("/metrics: {status}").into()),
    }
}

/// How many operations, and in how many seconds.
pub async fn run(doors: &[SocketAddr], load: Load, seconds: f64) -> Outcome<(u64, f64)> {
    let mut open = Vec::new();
    for client in 0..load.clients {
        let door = doors.get(client % doors.len().max(1)).ok_or("no server")?;
        open.push(Connection::open(*door).await?);
    }
    let (began, end) = (Instant::now(), Instant::now() + Duration::from_secs_f64(seconds));
    let mut working = JoinSet::new();
    for (client, connection) in open.into_iter().enumerate() {
        working.spawn(async move {
            match load.work {
                Work::Queue => messages(connection, end).await,
                work => cycle(connection, work, client, end).await,
            }
        });
    }
    let mut operations = 0;
    while let Some(done) = working.join_next().await {
        operations += done??;
    }
    Ok((operations, began.elapsed().as_secs_f64()))
}

async fn cycle(mut connection: Connection, work: Work, client: usize, end: Instant) -> io::Result<u64> {
    let request = |blob| match work {
        Work::Put => (put(client, blob), 201),
        Work::Lease => (lease(client, blob, "renew"), 200),
        Work::Get | Work::Queue => (get(client, blob), 200),
    };
    let requests: Vec<(Request, u16)> = (0..BLOBS).map(request).collect();
    let mut done = 0;
    for (request, status) in requests.iter().cycle() {
        if Instant::now() >= end {
            break;
        }
        let answer = connection.exchange(request).await?;
        if answer.status != *status {
            connection.expect(request, *status).await?;
        }
        done += 1;
    }
    Ok(done)
}

async fn messages(mut connection: Connection, end: Instant) -> io::Result<u64> {
    let signer = Signer::development();
    let text = "<QueueMessage><MessageText>hello</MessageText></QueueMessage>";
    let put = Draft::new("POST", "/bench/messages").typed_body("application/xml", text.into()).sign(&signer);
    let get = Draft::new("GET", "/bench/messages").query("visibilitytimeout", "600").sign(&signer);
    let (mut done, mut body) = (0, Vec::new());
    while Instant::now() < end {
        connection.expect(&put, 201).await?;
        connection.exchange_into(&get, &mut body).await?;
        let answer = std::str::from_utf8(&body).unwrap_or_default();
        let (id, receipt) = (element(answer, "MessageId"), element(answer, "PopReceipt"));
        if id.is_empty() {
            // Another client has it; that one's is left for this one.
            continue;
        }
        let path = format!("/bench/messages/{id}");
        let delete = Draft::new("DELETE", &path).query("popreceipt", receipt).sign(&signer);
        connection.expect(&delete, 204).await?;
        done += 1;
    }
    Ok(done)
}
