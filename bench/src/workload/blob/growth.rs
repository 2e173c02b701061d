//! Cost must not grow with what is stored: the same work in a container of 10,000 blobs and of very many.

use std::time::Instant;

use lazuli_testing::Signer;

use super::list::{name, pages};
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::options::Run;
use crate::request::{Draft, Request, put_blob};
use crate::servers::Server;
use crate::workload::content::content;
use crate::workload::{Growth, Scene};

const CONTAINER: &str = "growth";
const FEW: usize = 10_000;
const SIZE: usize = 1024;
/// Of each walk: as many as there are with few.
const PAGES: usize = 2;

pub async fn measure(server: &Server, run: &Run) -> Outcome<Growth> {
    server.create_container(CONTAINER).await?;
    let many = run.growth.max(FEW);
    let scene = Scene { server, at: server.address(), all: std::slice::from_ref(server), run };
    fill(server, 0, FEW).await?;
    let [put, get, list] = once(&scene, FEW).await?;
    let began = Instant::now();
    fill(server, FEW, many).await?;
    let seconds = began.elapsed().as_secs_f64();
    eprintln!("{} blobs in {seconds:.0} s: {:.0} /s", many - FEW, (many - FEW) as f64 / seconds);
    let [put_many, get_many, list_many] = once(&scene, many).await?;
    let rows =
        vec![("put 1 KiB", put, put_many), ("get 1 KiB", get, get_many), ("list page", list, list_many)];
    Ok(Growth { of: "blobs", stored: [FEW, many], rows })
}

async fn fill(server: &Server, from: usize, to: usize) -> Outcome {
    let (signer, content) = (Signer::development(), content(SIZE));
    let write = move |at| put_blob(&signer, &format!("/{CONTAINER}/{}", name(from + at)), content.clone());
    load::fill(server.address(), to - from, 201, write).await
}

async fn once(scene: &Scene<'_>, blobs: usize) -> Outcome<[Measured; 3]> {
    let signer = Signer::development();
    let content = content(SIZE);
    // Spread over the whole container, and never the same for two connections.
    let spread = |connection: usize| {
        let connections = scene.run.connections;
        (0..FEW / connections).map(move |at| (at * connections + connection).wrapping_mul(7919) % blobs)
    };
    let get = |at| Draft::new("GET", &format!("/{CONTAINER}/{}", name(at))).sign(&signer);
    let put = |at| put_blob(&signer, &format!("/{CONTAINER}/{}", name(at)), content.clone());
    let connections = 0..scene.run.connections;
    let gets: Vec<Vec<Request>> = connections.clone().map(|at| spread(at).map(get).collect()).collect();
    let puts: Vec<Vec<Request>> = connections.map(|at| spread(at).map(put).collect()).collect();
    let get = load::cycle(scene, gets, 200).await?;
    let list = load::measure(scene, 1, |_, mut connection, until| async move {
        let mut done = Done::default();
        while Instant::now() < until {
            pages(&mut connection, &format!("/{CONTAINER}"), PAGES, &mut done).await?;
        }
        Ok(done)
    })
    .await?;
    let put = load::cycle(scene, puts, 201).await?;
    Ok([put, get, list])
}
