//! Whole blobs in one request.

use lazuli_testing::Signer;

use super::Scene;
use crate::Outcome;
use crate::load::{self, Measured};
use crate::request::{Draft, Request, put_blob};
use crate::workload::content::content;

/// Names in plenty, so that few are written twice, within 256 MiB of different content.
fn names_of_each(scene: &Scene<'_>, size: usize) -> usize {
    let all = ((256 << 20) / size).min(40_000);
    (all / scene.run.connections).max(1)
}

pub async fn put(scene: &Scene<'_>, size: usize) -> Outcome<Measured> {
    let container = format!("put-{size}");
    scene.server.create_container(&container).await?;
    let (signer, content) = (Signer::development(), content(size));
    let names = names_of_each(scene, size);
    let pool = |connection| {
        let request = |name| put_blob(&signer, &format!("/{container}/{connection}/{name}"), content.clone());
        (0..names).map(request).collect::<Vec<Request>>()
    };
    load::cycle(scene, (0..scene.run.connections).map(pool).collect(), 201).await
}

pub async fn get(scene: &Scene<'_>, size: usize) -> Outcome<Measured> {
    read(scene, "GET", &format!("get-{size}"), size).await
}

pub async fn head(scene: &Scene<'_>) -> Outcome<Measured> {
    read(scene, "HEAD", "head-1024", 1024).await
}

/// Every connection reads blobs of its own, all of which fit into memory.
async fn read(scene: &Scene<'_>, method: &'static str, container: &str, size: usize) -> Outcome<Measured> {
    let blobs = ((64 << 20) / size).clamp(scene.run.connections, 1024);
    scene.server.create_container(container).await?;
    let (signer, content, place) = (Signer::development(), content(size), container.to_owned());
    let write = move |at| put_blob(&signer, &format!("/{place}/{at}"), content.clone());
    load::fill(scene.server.address(), blobs, 201, write).await?;
    let signer = Signer::development();
    let pool = |connection| {
        let request = |at| Draft::new(method, &format!("/{container}/{at}")).sign(&signer);
        (connection..blobs).step_by(scene.run.connections).map(request).collect::<Vec<Request>>()
    };
    load::cycle(scene, (0..scene.run.connections).map(pool).collect(), 200).await
}
