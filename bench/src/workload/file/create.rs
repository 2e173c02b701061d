//! Files of zeros, and page blobs of zeros.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lazuli_testing::Signer;

use super::{Side, create_root};
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, Request};
use crate::wire::Connection;
use crate::workload::Scene;

const ROOT: &str = "create";
/// Whatever `--connections` says: this is what the workload is.
const CLIENTS: usize = 16;

pub fn create(signer: &Signer, side: Side, path: &str, length: usize) -> Request {
    let length = length.to_string();
    let draft = Draft::new("PUT", path);
    let draft = match side {
        Side::File => draft.header("x-ms-type", "file").header("x-ms-content-length", &length),
        Side::Blob => draft.header("x-ms-blob-type", "PageBlob").header("x-ms-blob-content-length", &length),
    };
    draft.sign(signer)
}

/// A prefix of blobs is not made.
pub async fn make_directory(connection: &mut Connection, side: Side, path: &str) -> Outcome {
    if side == Side::File {
        let draft = Draft::new("PUT", path).query("restype", "directory");
        match connection.exchange(&draft.sign(&Signer::development())).await?.status {
            // 409: an earlier turn made it.
            201 | 409 => {}
            status => return Err(format!("{path} is not created: {status}").into()),
        }
    }
    Ok(())
}

pub async fn apart(scene: &Scene<'_>, side: Side) -> Outcome<Measured> {
    measure(scene, side, scene.run.connections, |client| format!("/{ROOT}/apart{client}")).await
}

pub async fn in_one(scene: &Scene<'_>, side: Side) -> Outcome<Measured> {
    measure(scene, side, CLIENTS, |_| format!("/{ROOT}/one")).await
}

async fn measure(
    scene: &Scene<'_>,
    side: Side,
    clients: usize,
    directory: impl Fn(usize) -> String,
) -> Outcome<Measured> {
    create_root(scene, side, ROOT).await?;
    let mut connection = Connection::open(scene.at).await?;
    for client in 0..clients {
        make_directory(&mut connection, side, &directory(client)).await?;
    }
    // No name is used twice: what is there would be replaced.
    let next = Arc::new(AtomicUsize::new(0));
    load::measure(scene, clients, |client, mut connection, until| {
        let (directory, next) = (directory(client), Arc::clone(&next));
        async move {
            let (signer, mut done) = (Signer::development(), Done::default());
            while Instant::now() < until {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let request = create(&signer, side, &format!("{directory}/f{number:09}"), 4096);
                let began = Instant::now();
                connection.expect(&request, 201).await?;
                done.note(began, 0);
            }
            Ok(done)
        }
    })
    .await
}
