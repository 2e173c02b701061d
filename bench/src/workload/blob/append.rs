//! Append blobs that grow by blocks of 4 KiB: each connection its own, or all of them one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lazuli_testing::Signer;

use super::Scene;
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, Request};
use crate::wire::Connection;
use crate::workload::content::content;

pub const BLOCK: usize = 4 << 10;
/// Whatever `--connections` says: this is what the workload is.
pub const CLIENTS: usize = 16;
/// A blob takes 50,000; then the next is appended to.
const BLOCKS_OF_ONE: usize = 48_000;
/// Of them, so many are there: the clients do not come to the end in the time.
const BLOBS: usize = 16;

fn create(path: &str) -> Request {
    Draft::new("PUT", path).header("x-ms-blob-type", "AppendBlob").sign(&Signer::development())
}

fn append_block(path: &str) -> Request {
    let draft = Draft::new("PUT", path).query("comp", "appendblock");
    draft.body(content(BLOCK)).sign(&Signer::development())
}

/// The append blobs of these names, all of them empty, and the request that appends a block to each.
async fn empty_blobs(scene: &Scene<'_>, container: &str, count: usize) -> Outcome<Vec<Request>> {
    scene.server.create_container(container).await?;
    let mut connection = Connection::open(scene.server.address()).await?;
    let mut requests = Vec::with_capacity(count);
    for at in 0..count {
        let path = format!("/{container}/{at}");
        connection.expect(&create(&path), 201).await?;
        requests.push(append_block(&path));
    }
    Ok(requests)
}

pub async fn each_its_own(scene: &Scene<'_>) -> Outcome<Measured> {
    let connections = scene.run.connections;
    let requests = Arc::new(empty_blobs(scene, "append", connections * BLOBS).await?);
    load::measure(scene, connections, |at, mut connection, until| {
        let requests = requests.clone();
        async move {
            let mut done = Done::default();
            for number in 0.. {
                let Some(request) = requests.get(number / BLOCKS_OF_ONE * connections + at) else { break };
                let began = Instant::now();
                if began >= until {
                    break;
                }
                connection.expect(request, 201).await?;
                done.note(began, BLOCK as u64);
            }
            Ok(done)
        }
    })
    .await
}

pub async fn all_to_one(scene: &Scene<'_>) -> Outcome<Measured> {
    let requests = Arc::new(empty_blobs(scene, "append-one", BLOBS).await?);
    let next = Arc::new(AtomicUsize::new(0));
    load::measure(scene, CLIENTS, |_, mut connection, until| {
        let (requests, next) = (requests.clone(), next.clone());
        async move {
            let mut done = Done::default();
            while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed) / BLOCKS_OF_ONE) {
                let began = Instant::now();
                if began >= until {
                    break;
                }
                connection.expect(request, 201).await?;
                done.note(began, BLOCK as u64);
            }
            Ok(done)
        }
    })
    .await
}
