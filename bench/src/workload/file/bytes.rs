//! Bytes written to a file here and there, and read from one.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_testing::Signer;
use md5::{Digest as _, Md5};

use super::create::create;
use super::{Side, create_root};
use crate::Outcome;
use crate::load::{self, Measured};
use crate::request::{Draft, Request};
use crate::wire::Connection;
use crate::workload::Scene;
use crate::workload::content::content;

/// Of the file that a connection works at.
const LENGTH: usize = 64 << 20;
/// The most that one request writes.
const LARGEST: usize = 4 << 20;
/// So many places of it are used.
const PLACES: usize = 1024;

/// With the MD5 of the bytes: Put Range computes one for its answer in any case, Put Page only where it is asked to check one.
fn update(side: Side, path: &str, start: usize, length: usize) -> Request {
    let range = format!("bytes={start}-{}", start + length - 1);
    let bytes = content(length);
    let md5 = BASE64_STANDARD.encode(Md5::digest(&bytes));
    let (comp, write) = match side {
        Side::File => ("range", "x-ms-write"),
        Side::Blob => ("page", "x-ms-page-write"),
    };
    let draft = Draft::new("PUT", path).query("comp", comp).header(write, "update");
    let draft = draft.header("x-ms-range", &range).header("Content-MD5", &md5);
    draft.body(bytes).sign(&Signer::development())
}

/// Where writes and reads of this size go, in an order that has no neighbours.
fn places(size: usize) -> impl Iterator<Item = usize> {
    let places = (LENGTH / size).min(PLACES);
    (0..places).map(move |place| place * 769 % places * size)
}

pub async fn put(scene: &Scene<'_>, side: Side, size: usize) -> Outcome<Measured> {
    create_root(scene, side, "bytes").await?;
    let mut connection = Connection::open(scene.at).await?;
    let mut pools = Vec::new();
    for at in 0..scene.run.connections {
        let path = format!("/bytes/put{size}-{at}");
        connection.expect(&create(&Signer::development(), side, &path, LENGTH), 201).await?;
        // Bodies are kept in memory: fewer of large ones.
        let few = if size >= LARGEST { 2 } else { PLACES };
        pools.push(places(size).take(few).map(|start| update(side, &path, start, size)).collect());
    }
    load::cycle(scene, pools, 201).await
}

/// Of files that were written from the beginning to the end.
pub async fn read(scene: &Scene<'_>, side: Side, size: usize) -> Outcome<Measured> {
    create_root(scene, side, "bytes").await?;
    let mut connection = Connection::open(scene.at).await?;
    let path = "/bytes/read";
    connection.expect(&create(&Signer::development(), side, path, LENGTH), 201).await?;
    for start in (0..LENGTH).step_by(LARGEST) {
        connection.expect(&update(side, path, start, LARGEST), 201).await?;
    }
    let pool: Vec<Request> = places(size)
        .map(|start| {
            let range = format!("bytes={start}-{}", start + size - 1);
            Draft::new("GET", path).header("x-ms-range", &range).sign(&Signer::development())
        })
        .collect();
    let pools = (0..scene.run.connections).map(|_| pool.clone()).collect();
    load::cycle(scene, pools, 206).await
}
