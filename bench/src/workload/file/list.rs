//! A directory of 10,000 files, and a container of as many blobs, listed by one connection in pages of 5,000.

use std::io;
use std::time::Instant;

use lazuli_testing::Signer;

use super::create::create;
use super::{Side, create_root};
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::Draft;
use crate::wire::Connection;
use crate::workload::Scene;
use crate::workload::blob::next_marker;

const COUNT: usize = 10_000;

/// An operation is a page.
pub async fn walk(scene: &Scene<'_>, side: Side) -> Outcome<Measured> {
    create_root(scene, side, "listed").await?;
    let signer = Signer::development();
    let write = move |at| create(&signer, side, &format!("/listed/part-{at:09}.json"), 512);
    load::fill(scene.at, COUNT, 201, write).await?;
    load::measure(scene, 1, |_, mut connection, until| async move {
        let mut done = Done::default();
        while done.latencies.is_empty() || Instant::now() < until {
            let listed = pages(&mut connection, side, &mut done).await?;
            if listed != COUNT {
                return Err(io::Error::other(format!("{listed} names instead of {COUNT}")));
            }
        }
        Ok(done)
    })
    .await
}

async fn pages(connection: &mut Connection, side: Side, done: &mut Done) -> io::Result<usize> {
    let signer = Signer::development();
    let restype = match side {
        Side::File => "directory",
        Side::Blob => "container",
    };
    let (mut marker, mut body, mut names) = (String::new(), Vec::new(), 0);
    // So many pages at the most.
    for _ in 0..COUNT {
        let mut draft = Draft::new("GET", "/listed").query("restype", restype).query("comp", "list");
        draft = draft.query("maxresults", "5000");
        if !marker.is_empty() {
            draft = draft.query("marker", &marker);
        }
        let request = draft.sign(&signer);
        let began = Instant::now();
        let answer = connection.exchange_into(&request, &mut body).await?;
        if answer.status != 200 {
            return Err(io::Error::other(format!("list: {}", answer.status)));
        }
        let found = memchr::memmem::find_iter(&body, b"<Name>").count();
        done.note(began, found as u64);
        names += found;
        marker = next_marker(&body);
        if marker.is_empty() {
            break;
        }
    }
    Ok(names)
}
