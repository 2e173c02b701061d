//! A way to the database for each server, on which a commit can be caught: so that the server is dead before it learns what became of it.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::timeout;

use super::proxy::Proxy;
use super::trap::Catch;
use super::{Cluster, SERVERS};
use crate::Trial;

/// A server that commits nothing for so long has no clients.
const PATIENCE: Duration = Duration::from_secs(20);
/// A commit takes 50 ms and more, so that a server can be dead before it is done.
const LEISURELY: &str = "options=-ccommit_delay%3D50000%20-ccommit_siblings%3D0";
pub const CATCHES: [Catch; 3] = [Catch::Sent, Catch::Arrived, Catch::Answered];

pub struct Aim {
    ways: Vec<(Proxy, String)>,
    caught: [AtomicUsize; CATCHES.len()],
}

impl Aim {
    pub async fn at(cluster: &Cluster) -> Trial<Self> {
        let mut ways = Vec::new();
        for _ in 0..SERVERS {
            let proxy = Proxy::start(cluster.postgres.port).await?;
            let url = format!("{}?{LEISURELY}", cluster.postgres.url_at(proxy.port));
            ways.push((proxy, url));
        }
        Ok(Self { ways, caught: Default::default() })
    }

    /// Of the database, as this server is told it.
    pub fn url(&self, server: usize) -> Option<String> {
        self.ways.get(server).map(|(_, url)| url.clone())
    }

    /// Returns while a commit of this server is held back. `turn`: each is caught at another point than the one before it.
    pub async fn wait(&self, server: usize, turn: usize) -> Trial {
        let (proxy, _) = self.ways.get(server).ok_or("no such server")?;
        let (at, catch) = (turn % CATCHES.len(), CATCHES[turn % CATCHES.len()]);
        let caught = timeout(PATIENCE, proxy.faults.trap.catch(catch)).await;
        caught.map_err(|_| format!("server {server}: no commit to be caught {catch:?}"))?;
        self.caught[at].fetch_add(1, Relaxed);
        Ok(())
    }

    /// It is dead: the connection that was held is cut.
    pub fn let_go(&self, server: usize) {
        if let Some((proxy, _)) = self.ways.get(server) {
            proxy.faults.trap.let_go();
        }
    }

    /// Of those whose commit the database had got: how often it was done before they were dead.
    pub fn overtaken(&self) -> usize {
        self.ways.iter().map(|(proxy, _)| proxy.faults.trap.overtaken()).sum()
    }

    /// How often a server was killed at each of the points.
    pub fn caught(&self) -> [usize; CATCHES.len()] {
        self.caught.each_ref().map(|count| count.load(Relaxed))
    }
}
