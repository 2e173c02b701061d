//! A container listed from the first page to the last, 5,000 names a page, by one connection.

use std::io;
use std::time::Instant;

use lazuli_testing::Signer;

use super::Scene;
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, put_blob};
use crate::wire::Connection;
use crate::workload::content::content;

/// Names are long enough to be real: a path of three parts.
pub fn name(at: usize) -> String {
    format!("year-2026/day-{:03}/part-{at:09}.json", at % 365)
}

/// An operation is a page.
pub async fn walk(scene: &Scene<'_>, count: usize) -> Outcome<Measured> {
    let container = format!("list-{count}");
    scene.server.create_container(&container).await?;
    let (signer, content, place) = (Signer::development(), content(16), container.clone());
    let write = move |at| put_blob(&signer, &format!("/{place}/{}", name(at)), content.clone());
    load::fill(scene.server.address(), count, 201, write).await?;
    load::measure(scene, 1, |_, mut connection, until| {
        let path = format!("/{container}");
        async move {
            let mut done = Done::default();
            // Whole walks only: the pages of one are not alike.
            while done.latencies.is_empty() || Instant::now() < until {
                let listed = pages(&mut connection, &path, usize::MAX, &mut done).await?;
                if listed != count {
                    return Err(io::Error::other(format!("{listed} names instead of {count}")));
                }
            }
            Ok(done)
        }
    })
    .await
}

/// Walks from the beginning through up to `most` pages; how many names there were.
pub async fn pages(
    connection: &mut Connection,
    path: &str,
    most: usize,
    done: &mut Done,
) -> io::Result<usize> {
    let signer = Signer::development();
    let (mut marker, mut body, mut names) = (String::new(), Vec::new(), 0);
    for _ in 0..most {
        let mut draft = Draft::new("GET", path).query("restype", "container").query("comp", "list");
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

/// Empty on the last page. Looked for from the end, since a page is long and its marker comes last. Markers of both servers need no unescaping: they are of the alphabet of base64.
pub fn next_marker(body: &[u8]) -> String {
    let body = String::from_utf8_lossy(body);
    let after = body.rsplit_once("<NextMarker>").map_or("", |(_, after)| after);
    after.split_once("</NextMarker>").map_or("", |(marker, _)| marker).to_owned()
}
