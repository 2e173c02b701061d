//! A blob of 256 MiB: staged by eight connections in blocks of 8 MiB and committed, or read in one request.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lazuli_testing::Signer;
use tokio::sync::Barrier;

use super::Scene;
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, Request};
use crate::wire::Connection;
use crate::workload::content::content;

const BLOCK: usize = 8 << 20;
const BLOCKS: usize = 32;
const LENGTH: u64 = (BLOCK * BLOCKS) as u64;
const CONNECTIONS: usize = 8;
const PATH: &str = "/large/blob";

fn block_id(at: usize) -> String {
    STANDARD.encode(format!("block-{at:06}"))
}

fn put_blocks() -> Vec<Request> {
    let (signer, content) = (Signer::development(), content(BLOCK));
    let request = |at| {
        let id = block_id(at);
        Draft::new("PUT", PATH)
            .query("comp", "block")
            .query("blockid", &id)
            .body(content.clone())
            .sign(&signer)
    };
    (0..BLOCKS).map(request).collect()
}

fn put_block_list() -> Request {
    let mut list = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>".to_owned();
    for at in 0..BLOCKS {
        list.push_str(&format!("<Latest>{}</Latest>", block_id(at)));
    }
    list.push_str("</BlockList>");
    Draft::new("PUT", PATH).query("comp", "blocklist").body(list.into()).sign(&Signer::development())
}

/// An operation is the whole upload. All connections stage, wait for each other, and the first commits.
pub async fn upload(scene: &Scene<'_>) -> Outcome<Measured> {
    scene.server.create_container("large").await?;
    let (blocks, list) = (Arc::new(put_blocks()), Arc::new(put_block_list()));
    let (barrier, over) = (Arc::new(Barrier::new(CONNECTIONS)), Arc::new(AtomicBool::new(false)));
    load::measure(scene, CONNECTIONS, |at, mut connection, until| {
        let (blocks, list) = (blocks.clone(), list.clone());
        let (barrier, over) = (barrier.clone(), over.clone());
        async move {
            let mut done = Done::default();
            loop {
                // The first alone looks at the time, before it lets the others go on: they do as it does.
                if at == 0 && !done.latencies.is_empty() && Instant::now() >= until {
                    over.store(true, Ordering::Relaxed);
                }
                barrier.wait().await;
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let began = Instant::now();
                for block in blocks.iter().skip(at).step_by(CONNECTIONS) {
                    connection.expect(block, 201).await?;
                }
                barrier.wait().await;
                if at == 0 {
                    connection.expect(&list, 201).await?;
                    done.note(began, LENGTH);
                }
            }
            Ok(done)
        }
    })
    .await
}

pub async fn download(scene: &Scene<'_>) -> Outcome<Measured> {
    scene.server.create_container("large").await?;
    let mut connection = Connection::open(scene.server.address()).await?;
    for block in put_blocks() {
        connection.expect(&block, 201).await?;
    }
    connection.expect(&put_block_list(), 201).await?;
    let get = Draft::new("GET", PATH).sign(&Signer::development());
    load::measure(scene, 1, |_, mut connection, until| {
        let get = get.clone();
        async move {
            let mut done = Done::default();
            while done.latencies.is_empty() || Instant::now() < until {
                let began = Instant::now();
                let answer = connection.exchange(&get).await?;
                if answer.status != 200 || answer.length != LENGTH {
                    return Err(io::Error::other(format!("{} with {} bytes", answer.status, answer.length)));
                }
                done.note(began, LENGTH);
            }
            Ok(done)
        }
    })
    .await
}
