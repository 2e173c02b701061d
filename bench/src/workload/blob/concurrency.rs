//! The three ways to manage concurrency, at work: ETags, and leases.

use std::io;
use std::time::Instant;

use lazuli_testing::Signer;

use super::Scene;
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, put_blob};
use crate::workload::content::content;

/// Whatever `--connections` says: this is what the workload is.
const CAS_CLIENTS: usize = 16;
const LEASE_ID: &str = "11111111-2222-4333-8444-555555555555";

/// Each connection replaces its own blob, each time under the ETag that the last time gave. Signing cannot be
/// done beforehand, since the ETag is signed.
pub async fn put_if_match(scene: &Scene<'_>) -> Outcome<Measured> {
    scene.server.create_container("match").await?;
    let content = content(1024);
    load::measure(scene, scene.run.connections, |at, mut connection, until| {
        let content = content.clone();
        async move {
            let (signer, path) = (Signer::development(), format!("/match/{at}"));
            let mut etag = connection.expect(&put_blob(&signer, &path, content.clone()), 201).await?.etag;
            let mut done = Done::default();
            while Instant::now() < until {
                let request = Draft::new("PUT", &path)
                    .header("x-ms-blob-type", "BlockBlob")
                    .if_match(&etag)
                    .body(content.clone())
                    .sign(&signer);
                let began = Instant::now();
                etag = connection.expect(&request, 201).await?.etag;
                done.note(began, 0);
            }
            Ok(done)
        }
    })
    .await
}

/// All clients read one blob and replace it under the ETag read, until it works. An operation is a success.
pub async fn compare_and_swap(scene: &Scene<'_>) -> Outcome<Measured> {
    const PATH: &str = "/cas/one";
    scene.server.create_container("cas").await?;
    let content = content(64);
    let mut connection = crate::wire::Connection::open(scene.server.address()).await?;
    connection.expect(&put_blob(&Signer::development(), PATH, content.clone()), 201).await?;
    load::measure(scene, CAS_CLIENTS, |_, mut connection, until| {
        let content = content.clone();
        async move {
            let signer = Signer::development();
            let get = Draft::new("GET", PATH).sign(&signer);
            let mut done = Done::default();
            let mut began = Instant::now();
            while Instant::now() < until {
                let etag = connection.expect(&get, 200).await?.etag;
                let put = Draft::new("PUT", PATH)
                    .header("x-ms-blob-type", "BlockBlob")
                    .if_match(&etag)
                    .body(content.clone())
                    .sign(&signer);
                match connection.exchange(&put).await?.status {
                    201 => {
                        done.note(began, 0);
                        began = Instant::now();
                    }
                    412 => {}
                    other => return Err(io::Error::other(format!("put if-match: {other}"))),
                }
            }
            Ok(done)
        }
    })
    .await
}

/// Acquire, renew, release: three requests are one operation.
pub async fn lease_cycle(scene: &Scene<'_>) -> Outcome<Measured> {
    scene.server.create_container("lease").await?;
    let content = content(64);
    load::measure(scene, scene.run.connections, |at, mut connection, until| {
        let content = content.clone();
        async move {
            let (signer, path) = (Signer::development(), format!("/lease/{at}"));
            connection.expect(&put_blob(&signer, &path, content), 201).await?;
            let lease = || Draft::new("PUT", &path).query("comp", "lease");
            let steps = [
                (lease().header("x-ms-lease-action", "acquire"), 201),
                (lease().header("x-ms-lease-action", "renew"), 200),
                (lease().header("x-ms-lease-action", "release"), 200),
            ];
            let steps = steps.map(|(draft, status)| {
                let draft = match status {
                    201 => {
                        draft.header("x-ms-lease-duration", "60").header("x-ms-proposed-lease-id", LEASE_ID)
                    }
                    _ => draft.header("x-ms-lease-id", LEASE_ID),
                };
                (draft.sign(&signer), status)
            });
            let mut done = Done::default();
            while Instant::now() < until {
                let began = Instant::now();
                for (request, status) in &steps {
                    connection.expect(request, *status).await?;
                }
                done.note(began, 0);
            }
            Ok(done)
        }
    })
    .await
}
