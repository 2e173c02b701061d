//! The servers that are measured, each a process with a directory of its own.

mod nginx;
mod process;

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use lazuli_testing::{Signer, free_ports};

use crate::Outcome;
use crate::bare::Bare;
use crate::options::Run;
use crate::request::{Draft, Request};
use crate::wire::Connection;
use process::Process;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Lazuli,
    /// The build to compare it with.
    Against,
    Azurite,
    /// Static files: how fast bytes leave the machine.
    Nginx,
    Bare(Bare),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lazuli => "lazuli",
            Self::Against => "against",
            Self::Azurite => "azurite",
            Self::Nginx => "nginx",
            Self::Bare(Bare::Hyper) => "bare hyper",
            Self::Bare(Bare::Log) => "bare log",
        })
    }
}

/// Which of its services a server is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Blob,
    Queue,
    Table,
    File,
}

impl Service {
    fn name(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Queue => "queue",
            Self::Table => "table",
            Self::File => "file",
        }
    }
}

pub struct Server {
    kind: Kind,
    process: Process,
}

/// Lazuli first: nobody else has left anything to be written yet.
pub fn start(run: &Run, service: Service) -> Outcome<Vec<Server>> {
    let mut servers = vec![Server::lazuli(run, service)?];
    if let Some(binary) = &run.against {
        servers.push(Server::build_of_ours(run, Kind::Against, binary, service)?);
    }
    if !run.no_limits && service == Service::Blob {
        servers.push(Server::bare(run, Bare::Hyper)?);
        servers.push(Server::bare(run, Bare::Log)?);
        match &run.nginx {
            Some(program) => servers.push(Server { kind: Kind::Nginx, process: nginx::start(run, program)? }),
            None => eprintln!("no nginx to compare with: --nginx FILE"),
        }
    }
    match &run.azurite {
        // The emulator has no files.
        Some(program) if service != Service::File => servers.push(Server::azurite(run, program, service)?),
        Some(_) => {}
        None if run.against.is_some() || service == Service::File => {}
        None => eprintln!("no azurite to compare with: --azurite FILE"),
    }
    Ok(servers)
}

impl Server {
    pub fn lazuli(run: &Run, service: Service) -> Outcome<Self> {
        Self::build_of_ours(run, Kind::Lazuli, &run.lazuli, service)
    }

    fn build_of_ours(run: &Run, kind: Kind, binary: &Path, service: Service) -> Outcome<Self> {
        let mut command = Command::new(binary);
        free_ports(&mut command).arg("--silent");
        let announcement = format!("{} listening on http://", service.name());
        let process = Process::start(run, &kind.to_string(), command, Some("--location"), &announcement)?;
        Ok(Self { kind, process })
    }

    /// All of its services in one process, as it is mostly run. A `node` beside the program is the one it wants.
    fn azurite(run: &Run, program: &Path, service: Service) -> Outcome<Self> {
        let mut command = Command::new(program);
        let beside = program.parent().map(Path::to_owned);
        let usual = std::env::var_os("PATH").unwrap_or_default();
        command.env("PATH", std::env::join_paths(beside.into_iter().chain(std::env::split_paths(&usual)))?);
        command.args(["--silent", "--disableTelemetry", "--skipApiVersionCheck"]);
        for name in [Service::Blob, Service::Queue, Service::Table].map(Service::name) {
            command.args([format!("--{name}Port"), "0".to_owned()]);
            command.args([format!("--{name}KeepAliveTimeout"), "600".to_owned()]);
        }
        let name = match service {
            Service::Blob => "Blob",
            Service::Queue => "Queue",
            Service::Table => "Table",
            Service::File => return Err("the emulator has no files".into()),
        };
        let announcement = format!("{name} service is successfully listening at http://");
        let process = Process::start(run, "azurite", command, Some("--location"), &announcement)?;
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
    pub async fn prepare(&self, service: Service) -> Outcome {
        match service {
            Service::Blob => self.create_container("first").await,
            Service::Queue => self.create_queue("first").await,
            Service::Table => self.create_table("first").await,
            Service::File => self.create_share("first").await,
        }
    }

    /// Where its blobs are, of a server that is asked for files.
    pub fn blobs(&self) -> Outcome<SocketAddr> {
        self.process.blobs().ok_or_else(|| "it did not say where its blobs are".into())
    }

    pub async fn create_share(&self, name: &str) -> Outcome {
        let path = format!("/{name}");
        self.create(&Draft::new("PUT", &path).query("restype", "share").sign(&Signer::development())).await
    }

    pub async fn create_container(&self, name: &str) -> Outcome {
        let path = format!("/{name}");
        self.create(&Draft::new("PUT", &path).query("restype", "container").sign(&Signer::development()))
            .await
    }

    pub async fn create_queue(&self, name: &str) -> Outcome {
        self.create(&Draft::new("PUT", &format!("/{name}")).sign(&Signer::development())).await
    }

    pub async fn create_table(&self, name: &str) -> Outcome {
        let body = format!("{{\"TableName\":\"{name}\"}}");
        self.create(&Draft::new("POST", "/Tables").json(body.into()).sign(&Signer::table())).await
    }

    async fn create(&self, request: &Request) -> Outcome {
        let answer = Connection::open(self.address()).await?.exchange(request).await?;
        // 204 and 409: an earlier workload made it.
        match answer.status {
            201 | 204 | 409 => Ok(()),
            status => Err(format!("{} is not created: {status}", request.line()).into()),
        }
    }
}
