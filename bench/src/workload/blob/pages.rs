//! Page blobs: written here and there in pieces of 4 KiB, and kept by snapshots.

use std::time::Instant;

use lazuli_testing::Signer;

use super::Scene;
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, Request};
use crate::wire::Connection;
use crate::workload::content::content;

pub const PAGE: usize = 4 << 10;
/// Of the blob that a connection writes into.
const DISK: usize = 64 << 20;
/// The most that one request writes.
const LARGEST: usize = 4 << 20;
/// The length of the blob of which snapshots are taken, whatever lies in it.
const LENGTH: usize = 1 << 30;

fn create(path: &str, length: usize) -> Request {
    let length = length.to_string();
    let draft = Draft::new("PUT", path).header("x-ms-blob-type", "PageBlob");
    draft.header("x-ms-blob-content-length", &length).sign(&Signer::development())
}

fn update(path: &str, start: usize, length: usize) -> Request {
    let range = format!("bytes={start}-{}", start + length - 1);
    let draft = Draft::new("PUT", path).query("comp", "page").header("x-ms-page-write", "update");
    draft.header("x-ms-range", &range).body(content(length)).sign(&Signer::development())
}

pub async fn put_page(scene: &Scene<'_>) -> Outcome<Measured> {
    scene.server.create_container("pages").await?;
    let mut connection = Connection::open(scene.server.address()).await?;
    let mut pools = Vec::new();
    for at in 0..scene.run.connections {
        let path = format!("/pages/{at}");
        connection.expect(&create(&path, DISK), 201).await?;
        // Every page of the first sixteenth of the disk, in an order that has no neighbours.
        let pages = DISK / PAGE / 16;
        pools.push((0..pages).map(|page| update(&path, page * 769 % pages * PAGE, PAGE)).collect());
    }
    load::cycle(scene, pools, 201).await
}

/// Snapshots one after another of a blob in which so many bytes lie.
pub async fn snapshot(scene: &Scene<'_>, written: usize) -> Outcome<Measured> {
    scene.server.create_container("snapshots").await?;
    let path = format!("/snapshots/{written}");
    let mut connection = Connection::open(scene.server.address()).await?;
    connection.expect(&create(&path, LENGTH), 201).await?;
    for start in (0..written).step_by(LARGEST) {
        connection.expect(&update(&path, start, LARGEST), 201).await?;
    }
    let request = Draft::new("PUT", &path).query("comp", "snapshot").sign(&Signer::development());
    load::measure(scene, 1, |_, mut connection, until| {
        let request = request.clone();
        async move {
            let mut done = Done::default();
            while Instant::now() < until {
                let began = Instant::now();
                connection.expect(&request, 201).await?;
                done.note(began, 0);
            }
            Ok(done)
        }
    })
    .await
}
