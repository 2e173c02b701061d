//! The database, the store of bytes, three servers, and a balancer for each service.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use lazuli_testing::postgres::Postgres;
use lazuli_testing::seaweed::Seaweed;
use lazuli_testing::{ACCOUNT, KEY, Server, free_ports};

use super::balancer;
use crate::paths;
use crate::server::binary;
use crate::shell::Chore;

const SERVERS: usize = 3;
const SERVICES: [(&str, &str); 5] =
    [("Blob", "blob"), ("Queue", "queue"), ("Table", "table"), ("File", "file"), ("Dfs", "dfs")];

/// Ended when dropped, the servers first.
pub struct Cluster {
    servers: Vec<Server>,
    /// Of each service.
    balancers: Vec<SocketAddr>,
    data: PathBuf,
    _seaweed: Option<Seaweed>,
    _postgres: Postgres,
}

impl Cluster {
    pub fn start(purpose: &str, flags: &[&str]) -> Chore<Self> {
        let postgres = Postgres::start(&[]).ok_or("PostgreSQL is not installed")?;
        let seaweed = Seaweed::start().inspect(|seaweed| seaweed.make_bucket("cluster"));
        let data = paths::target().join(format!("xtask-cluster-{}", std::process::id()));
        let bytes = match &seaweed {
            Some(seaweed) => seaweed.url("cluster"),
            None => format!("file://{}", data.display()),
        };
        let mut bound = Vec::new();
        for (_, listener) in SERVICES {
            bound.push((listener, balancer::bind()?));
        }
        let public = bound.iter().filter(|(listener, _)| ["blob", "file"].contains(listener));
        let public: Vec<String> = public.map(|(listener, (_, at))| format!("{listener}={at}")).collect();
        let mut servers = Vec::new();
        for number in 1..=SERVERS {
            let path = paths::target().join(format!("xtask-cluster-{purpose}-{number}.log"));
            let log = File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let mut command = Command::new(binary());
            free_ports(&mut command).args(["--database", &postgres.url(), "--bytes", &bytes, "--test-clock"]);
            command.args(["--publicAddresses", &public.join(",")]);
            command.args(flags).envs(Seaweed::environment()).stderr(log);
            let started = Server::start(&mut command);
            servers.push(
                started.map_err(|reason| format!("server {number}: {reason}; see {}", path.display()))?,
            );
        }
        let mut balancers = Vec::new();
        for (listener, (socket, address)) in bound {
            let all = servers.iter().filter_map(|server| Some(server.listener(listener)?.address)).collect();
            balancer::start(socket, all);
            balancers.push(address);
        }
        Ok(Self { servers, balancers, data, _seaweed: seaweed, _postgres: postgres })
    }

    fn admin(&self) -> String {
        let admin = self.servers.first().and_then(|server| server.listener("admin"));
        admin.map_or_else(String::new, |admin| format!("http://{}", admin.address))
    }

    pub fn clock_url(&self) -> String {
        format!("{}/clock", self.admin())
    }

    pub fn connection_string(&self) -> String {
        let mut text = format!("DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};");
        for ((name, _), address) in SERVICES.iter().zip(&self.balancers) {
            text.push_str(&format!("{name}Endpoint=http://{address}/{ACCOUNT};"));
        }
        text
    }

    /// What clients' tests find in their environment.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let blob = self.balancers.first().map_or_else(String::new, |blob| format!("http://{blob}/{ACCOUNT}"));
        vec![
            ("LAZULI_TEST_BINARY", binary().to_string_lossy().into_owned()),
            ("LAZULI_TEST_CONNECTION_STRING", self.connection_string()),
            ("LAZULI_TEST_BLOB_URL", blob),
            ("LAZULI_TEST_CLOCK_URL", self.clock_url()),
            ("LAZULI_TEST_ADMIN_URL", self.admin()),
        ]
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.servers.iter_mut().for_each(|server| server.kill());
        let _ = std::fs::remove_dir_all(&self.data);
    }
}
