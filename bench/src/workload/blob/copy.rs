//! Copy Blob from one name of the server to another.

use lazuli_testing::{ACCOUNT, Signer};

use super::Scene;
use crate::Outcome;
use crate::load::{self, Measured};
use crate::request::{Draft, Request, put_blob};
use crate::wire::Connection;
use crate::workload::content::content;

/// Names that a connection copies to, one after the other.
const NAMES: usize = 64;

pub async fn copy(scene: &Scene<'_>, size: usize) -> Outcome<Measured> {
    let container = format!("copy-{size}");
    scene.server.create_container(&container).await?;
    let signer = Signer::development();
    let mut connection = Connection::open(scene.server.address()).await?;
    connection.expect(&put_blob(&signer, &format!("/{container}/source"), content(size)), 201).await?;
    let source = format!("http://{}/{ACCOUNT}/{container}/source", scene.server.address());
    let request = |at: usize, name: usize| {
        let path = format!("/{container}/{at}/{name}");
        Draft::new("PUT", &path).header("x-ms-copy-source", &source).sign(&signer)
    };
    let pool = |at| (0..NAMES).map(|name| request(at, name)).collect::<Vec<Request>>();
    load::cycle(scene, (0..scene.run.connections).map(pool).collect(), 202).await
}
