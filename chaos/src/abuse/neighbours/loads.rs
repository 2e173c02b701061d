//! The requests that take long, each as large as the service takes it.

use std::net::SocketAddr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use tokio::task::JoinSet;

use crate::Trial;
use crate::blob::{self, of_blob, of_container, of_service};
use crate::queue;
use crate::server::Server;
use crate::table::{self, Change, Properties, Verb};
use crate::wire::{Client, Request};

pub struct Load {
    pub what: &'static str,
    pub address: SocketAddr,
    statuses: &'static [u16],
    /// The request of each turn.
    request: Box<dyn Fn(u64) -> Request + Send + Sync>,
}

impl Load {
    pub async fn send(&self, client: &mut Client, turn: u64) -> Trial {
        let answer = client.must(&(self.request)(turn)).await?;
        match self.statuses.contains(&answer.status) {
            true => Ok(()),
            false => Err(format!("{}: {} {}", self.what, answer.shown(), table::told(&answer))),
        }
    }
}

const LISTED: u64 = 5000;
const WRITERS: u64 = 16;
const QUEUE: &str = "neighbours";
const MESSAGES: usize = 32;
const WIDE: u64 = 12;

fn md5(body: &Bytes) -> String {
    BASE64_STANDARD.encode(lazuli_service::md5(body))
}

pub async fn prepare(server: &Server, long: bool) -> Trial<Vec<Load>> {
    let mut client = Client::new(server.blob);
    fill(server).await?;
    let blocks: u64 = if long { 50_000 } else { 2_000 };
    stage(server, blocks).await?;
    let list = block_list((0..blocks).map(block_id));
    let commit = of_blob("PUT", "blocks", "comp=blocklist").body(list);
    client.must(&commit).await?.expect(201, "Put Block List")?;
    let large = blob::content(3, 32 << 20);
    client.must(&blob::put("large", large.clone())).await?.expect(201, "a large blob")?;
    let mut queues = Client::new(server.queue);
    queues.must(&queue::create(QUEUE)).await?.expect(201, "Create Queue")?;
    for _ in 0..MESSAGES {
        let put = queue::put(QUEUE, &"m".repeat(64 << 10), 0, -1);
        queues.must(&put).await?.expect(201, "Put Message")?;
    }
    let mut tables = Client::new(server.table);
    table::expect(tables.must(&table::create()).await?, 201, "Create Table")?;
    for row in 0..WIDE {
        let insert = wide("wide", &format!("{row:04}")).request();
        table::expect(tables.must(&insert).await?, 204, "Insert Entity")?;
    }
    let mut loads = blobs(server.blob, large);
    loads.extend(queues_and_tables(server));
    Ok(loads)
}

fn blobs(address: SocketAddr, large: Bytes) -> Vec<Load> {
    let load = |what, statuses, request: Box<dyn Fn(u64) -> Request + Send + Sync>| Load {
        what,
        address,
        statuses,
        request,
    };
    let block = large.slice(..8 << 20);
    let (large_md5, block_md5) = (md5(&large), md5(&block));
    let missing = block_list((0..50_000).map(|number| format!("missing{number:09}")));
    let settings = document("StorageServiceProperties", 1 << 20);
    vec![
        load("Put Blob with MD5", &[201], {
            Box::new(move |_| blob::put("put", large.clone()).header("Content-MD5", &large_md5))
        }),
        load("Put Block with MD5", &[201], {
            Box::new(move |_| {
                of_blob("PUT", "staged", "comp=block&blockid=MDAw")
                    .header("Content-MD5", &block_md5)
                    .body(block.clone())
            })
        }),
        load("Put Block List of 50,000, refused", &[400], {
            Box::new(move |_| of_blob("PUT", "refused", "comp=blocklist").body(missing.clone()))
        }),
        // Access policies, which no account token may set, are read by the same reader.
        load("Set Blob Service Properties of 1 MiB", &[400], {
            Box::new(move |_| of_service("PUT", "restype=service&comp=properties").body(settings.clone()))
        }),
        load("List Blobs of 5,000", &[200], {
            Box::new(|_| of_container("GET", "restype=container&comp=list&include=metadata&prefix=listed/"))
        }),
        load("List Blobs by hierarchy", &[200], {
            Box::new(|_| of_container("GET", "restype=container&comp=list&prefix=listed/&delimiter=/"))
        }),
        load("Get Block List", &[200], Box::new(|_| of_blob("GET", "blocks", "comp=blocklist"))),
        load("Get Blob", &[200], Box::new(|_| blob::get("large"))),
        load("Get Blob of many blocks", &[200], Box::new(|_| blob::get("blocks"))),
        load("Get Blob with the MD5 of a range", &[206], {
            Box::new(|_| {
                blob::get("large")
                    .header("x-ms-range", format!("bytes=0-{}", (4 << 20) - 1))
                    .header("x-ms-range-get-content-md5", "true")
            })
        }),
    ]
}

fn queues_and_tables(server: &Server) -> Vec<Load> {
    let message = "&#109;".repeat(64 << 10);
    let message = format!("<QueueMessage><MessageText>{message}</MessageText></QueueMessage>");
    // Fifteen comparisons with what no entity holds, in its last properties.
    let clauses: Vec<String> =
        (236..=250).map(|property| format!("P{property:03}%20eq%20'{}'", "y".repeat(20))).collect();
    let filter = clauses.join("%20or%20");
    let queue = |what, statuses, request: Box<dyn Fn(u64) -> Request + Send + Sync>| Load {
        what,
        address: server.queue,
        statuses,
        request,
    };
    let table = |what, statuses, request: Box<dyn Fn(u64) -> Request + Send + Sync>| Load {
        what,
        address: server.table,
        statuses,
        request,
    };
    vec![
        queue("Put Message of references", &[201], {
            Box::new(move |_| {
                crate::sas::signed("POST", &format!("{QUEUE}2/messages"), "messagettl=1")
                    .body(message.clone())
            })
        }),
        queue("Get Messages of 2 MiB", &[200], Box::new(|_| queue::peek(QUEUE, MESSAGES))),
        table("Insert Entity of 1 MiB", &[204], {
            Box::new(|turn| wide("inserted", &format!("{turn:06}")).request())
        }),
        table("Entity Group Transaction of 4 MiB", &[202], {
            Box::new(|turn| {
                let changes: Vec<Change> =
                    (0..100).map(|row| narrow(&format!("group{turn:06}"), &format!("{row:04}"))).collect();
                table::group(&changes)
            })
        }),
        table("Query Entities of 1 MiB each", &[200], {
            Box::new(move |_| table::query_where(&format!("PartitionKey%20eq%20'wide'%20and%20({filter})")))
        }),
    ]
}

/// A document of this size that ends as none should.
fn document(root: &str, size: usize) -> Bytes {
    let mut text = format!("<{root}>");
    while text.len() < size - 100 {
        text.push_str("<Cors><!-- much to read and nothing to keep --></Cors>");
    }
    text.into()
}

fn block_id(number: u64) -> String {
    format!("block{number:010}")
}

fn block_list(ids: impl Iterator<Item = String>) -> Bytes {
    let latest = ids.map(|id| format!("<Latest>{}</Latest>", BASE64_STANDARD.encode(id)));
    format!("<BlockList>{}</BlockList>", latest.collect::<String>()).into()
}

/// An entity near the limit of 1 MiB, in as many properties as one may have.
fn wide(partition: &str, row: &str) -> Change {
    entity(partition, row, 250, 2000)
}

fn narrow(partition: &str, row: &str) -> Change {
    entity(partition, row, 20, 2000)
}

/// Strings are stored in UTF-16: each letter counts twice.
fn entity(partition: &str, row: &str, properties: usize, length: usize) -> Change {
    let properties: Properties =
        (1..=properties).map(|number| (format!("P{number:03}"), "x".repeat(length))).collect();
    let (partition, row) = (partition.to_owned(), row.to_owned());
    Change { verb: Verb::Replace, partition, row, properties, if_match: None }
}

async fn fill(server: &Server) -> Trial {
    let mut queues = Client::new(server.queue);
    queues.must(&queue::create(&format!("{QUEUE}2"))).await?.expect(201, "Create Queue")?;
    many(server, LISTED, |number| {
        blob::put(&format!("listed/{number:08}"), "x").header("x-ms-meta-some", "m".repeat(200))
    })
    .await
}

async fn stage(server: &Server, count: u64) -> Trial {
    many(server, count, |number| {
        let id = BASE64_STANDARD.encode(block_id(number)).replace('=', "%3D");
        of_blob("PUT", "blocks", &format!("comp=block&blockid={id}")).body("b")
    })
    .await
}

async fn many(server: &Server, count: u64, request: fn(u64) -> Request) -> Trial {
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let address = server.blob;
        writers.spawn(async move {
            let mut client = Client::new(address);
            for number in (writer..count).step_by(WRITERS as usize) {
                client.must(&request(number)).await?.expect(201, "preparing")?;
            }
            Trial::Ok(())
        });
    }
    while let Some(done) = writers.join_next().await {
        done.map_err(|error| error.to_string())??;
    }
    Ok(())
}
