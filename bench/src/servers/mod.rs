//! The servers that are measured, each a process with a directory of its own.

mod process;

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::bare::Bare;
use crate::options::Run;
use crate::request::Draft;
use crate::sign::Signer;
use crate::wire::Connection;
use process::Process;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Lazuli,
    Azurite,
    Bare(Bare),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lazuli => "lazuli",
            Self::Azurite => "azurite",
            Self::Bare(Bare::Hyper) => "bare hyper",
            Self::Bare(Bare::Log) => "bare log",
        })
    }
}

pub struct Server {
    kind: Kind,
    process: Process,
}

/// Lazuli first: nobody else has left anything to be written yet.
pub fn start(run: &Run) -> Outcome<Vec<Server>> {
    let mut servers = vec![Server::lazuli(run)?];
    if !run.no_limits {
        servers.push(Server::bare(run, Bare::Hyper)?);
        servers.push(Server::bare(run, Bare::Log)?);
    }
    match &run.azurite {
        Some(program) => servers.push(Server::azurite(run, program)?),
        None => eprintln!("no azurite to compare with: --azurite FILE"),
    }
    Ok(servers)
}

impl Server {
    pub fn lazuli(run: &Run) -> Outcome<Self> {
        let mut command = Command::new(&run.lazuli);
        for port in ["blob", "queue", "table", "file", "dfs", "admin"] {
            command.args([format!("--{port}Port"), "0".to_owned()]);
        }
        command.arg("--silent");
        let process =
            Process::start(run, "lazuli", command, Some("--location"), "blob listening on http://")?;
        Ok(Self { kind: Kind::Lazuli, process })
    }

    fn azurite(run: &Run, program: &Path) -> Outcome<Self> {
        let mut command = Command::new(program);
        command.args(["--silent", "--disableTelemetry", "--skipApiVersionCheck"]);
        command.args(["--blobPort", "0", "--blobKeepAliveTimeout", "600"]);
        let process = Process::start(run, "azurite", command, Some("--location"), "listens on http://")?;
        Ok(Self { kind: Kind::Azurite, process })
    }

    fn bare(run: &Run, bare: Bare) -> Outcome<Self> {
        let name = if bare == Bare::Hyper { "hyper" } else { "log" };
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve-bare", name]);
        let process = Process::start(run, &format!("bare-{name}"), command, None, "listening on http://")?;
        Ok(Self { kind: Kind::Bare(bare), process })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn address(&self) -> SocketAddr {
        self.process.address()
    }

    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// The first request is answered, so everything after it finds a server that has started.
    pub async fn prepare(&self) -> Outcome {
        self.create_container("first").await
    }

    pub async fn create_container(&self, name: &str) -> Outcome {
        let path = format!("/{name}");
        let request = Draft::new("PUT", &path).query("restype", "container").sign(&Signer::new());
        let answer = Connection::open(self.address()).await?.exchange(&request).await?;
        // 409: an earlier workload made it.
        match answer.status {
            201 | 409 => Ok(()),
            status => Err(format!("container {name} is not created: {status}").into()),
        }
    }
}
