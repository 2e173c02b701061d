//! The server under test, as a process of ours.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use lazuli_testing::seaweed::Seaweed;
use lazuli_testing::{free_ports, with_descriptors};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Trial;
use crate::cluster::aim::Aim;
use crate::cluster::{Cluster, SERVERS};
use crate::options::Options;

/// How a server is started; again and again over the same data.
pub struct Launch {
    binary: PathBuf,
    data: PathBuf,
    log: PathBuf,
    arguments: Vec<String>,
    descriptors: Option<u32>,
    cluster: Option<Arc<Cluster>>,
    /// Instead of the cluster's own.
    database: Option<String>,
    /// Instead of both: a way to the database for each of the servers.
    aim: Option<Arc<Aim>>,
    bytes: Option<String>,
    /// Removed with everything in it when the case is over.
    _place: Option<tempfile::TempDir>,
}

impl Launch {
    /// With a directory of its own.
    pub fn new(options: &Options, case: &str) -> Trial<Self> {
        let place = tempfile::Builder::new().prefix(&format!("chaos-{case}-")).tempdir_in(&options.work);
        let place = place.map_err(|error| format!("{}: {error}", options.work.display()))?;
        let mut launch = Self::at(options, case, place.path());
        launch._place = Some(place);
        Ok(launch)
    }

    /// With a directory that the caller removes. The log is kept.
    pub fn at(options: &Options, case: &str, data: &Path) -> Self {
        Self {
            binary: options.server.clone(),
            data: data.to_owned(),
            log: options.work.join(format!("chaos-{case}.log")),
            arguments: Vec::new(),
            descriptors: None,
            cluster: options.cluster.clone(),
            database: options.database.clone(),
            aim: options.aim.clone(),
            bytes: None,
            _place: None,
        }
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    pub fn with_descriptors(mut self, most: u32) -> Self {
        self.descriptors = Some(most);
        self
    }

    /// So many servers over one engine: in one process, unless each is a process of a cluster anyway.
    pub fn with_servers(self, count: u8) -> Self {
        match self.cluster {
            None => self.with(&["--rehearse-servers", &count.to_string()]),
            Some(_) => self,
        }
    }

    /// The cluster's database by another address.
    pub fn with_database(mut self, url: &str) -> Self {
        self.database = Some(url.to_owned());
        self
    }

    /// Another store of bytes than the cluster's.
    pub fn with_bytes(mut self, url: &str) -> Self {
        self.bytes = Some(url.to_owned());
        self
    }

    /// Where the data of a server is.
    fn place(&self, number: usize) -> Vec<String> {
        let Some(cluster) = &self.cluster else {
            return vec!["--location".to_owned(), self.data.to_string_lossy().into_owned()];
        };
        let mut flags = cluster.flags(&self.data);
        let database = self.aim.as_ref().and_then(|aim| aim.url(number)).or(self.database.clone());
        for (flag, other) in [("--database", &database), ("--bytes", &self.bytes)] {
            let value = flags.iter().position(|known| known == flag).and_then(|at| flags.get_mut(at + 1));
            if let (Some(value), Some(other)) = (value, other) {
                value.clone_from(other);
            }
        }
        flags
    }

    /// Waits until it says that it is ready. In a cluster these are several processes.
    pub fn start(&self) -> Trial<Server> {
        tokio::task::block_in_place(|| {
            let mut server = self.start_now(0)?;
            while self.cluster.is_some() && server.members.len() + 1 < SERVERS {
                server.members.push(Some(self.start_now(server.members.len() + 1)?));
            }
            Ok(server)
        })
    }

    /// One process more, in the place of one that is dead.
    pub fn start_member(&self, server: &mut Server, number: usize) -> Trial {
        let started = tokio::task::block_in_place(|| self.start_now(number + 1))?;
        if let Some(member) = server.members.get_mut(number) {
            *member = Some(started);
        }
        Ok(())
    }

    fn start_now(&self, number: usize) -> Trial<Server> {
        let mut command = match self.descriptors {
            None => Command::new(&self.binary),
            Some(most) => with_descriptors(&self.binary, most),
        };
        let log = File::options().create(true).append(true).open(&self.log);
        let log = log.map_err(|error| format!("{}: {error}", self.log.display()))?;
        free_ports(&mut command).args(&self.arguments).arg("--silent").args(self.place(number));
        command.envs(Seaweed::environment());
        let process = lazuli_testing::Server::start(command.stderr(log))
            .map_err(|reason| format!("{reason}; see {}", self.log.display()))?;
        let Doors { blob, queue, table, file } = Doors::of(&process, "")?;
        let admin = address(&process, "admin")?;
        // Servers behind the first are announced with their number.
        let numbers = (2..).take_while(|number| process.listener(&format!("blob-{number}")).is_some());
        let others: Trial<_> = numbers.map(|number| Doors::of(&process, &format!("-{number}"))).collect();
        Ok(Server { others: others?, members: Vec::new(), process, blob, queue, table, file, admin })
    }
}

/// Where its services are.
#[derive(Clone, Copy, Debug)]
pub struct Doors {
    pub blob: SocketAddr,
    pub queue: SocketAddr,
    pub table: SocketAddr,
    pub file: SocketAddr,
}

impl Doors {
    fn of(process: &lazuli_testing::Server, suffix: &str) -> Trial<Self> {
        let of = |name: &str| address(process, &format!("{name}{suffix}"));
        Ok(Self { blob: of("blob")?, queue: of("queue")?, table: of("table")?, file: of("file")? })
    }
}

fn address(process: &lazuli_testing::Server, name: &str) -> Trial<SocketAddr> {
    let listener = process.listener(name).map(|listener| listener.address);
    listener.ok_or_else(|| format!("the server does not listen for {name}"))
}

/// Killed when dropped.
pub struct Server {
    process: lazuli_testing::Server,
    pub blob: SocketAddr,
    pub queue: SocketAddr,
    pub table: SocketAddr,
    pub file: SocketAddr,
    pub admin: SocketAddr,
    /// Of servers over the same engine, in the same process.
    others: Vec<Doors>,
    /// Of a cluster: the other processes. None while one is dead.
    members: Vec<Option<Self>>,
}

impl Server {
    pub fn doors(&self) -> Doors {
        Doors { blob: self.blob, queue: self.queue, table: self.table, file: self.file }
    }

    /// Of every server over the engine.
    pub fn all_doors(&self) -> Vec<Doors> {
        let members = self.members.iter().flatten().map(Self::doors);
        std::iter::once(self.doors()).chain(self.others.iter().copied()).chain(members).collect()
    }

    /// How many processes there are beside the first.
    pub fn members(&self) -> usize {
        self.members.len()
    }

    /// kill -9 of one of them.
    pub fn kill_member(&mut self, number: usize) {
        if let Some(member) = self.members.get_mut(number) {
            *member = None;
        }
    }

    /// kill -9: whatever was not written is not written.
    pub fn kill(mut self) {
        self.kill_now();
    }

    /// The same, when it cannot be given away. It is dead when this returns.
    pub fn kill_now(&mut self) {
        self.process.kill();
        self.members.iter_mut().flatten().for_each(Self::kill_now);
    }

    /// None while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.ended()
    }

    pub fn must_run(&mut self) -> Trial {
        for member in self.members.iter_mut().flatten() {
            member.must_run()?;
        }
        match self.ended() {
            None => Ok(()),
            Some(status) => Err(format!("the server ended: {status}")),
        }
    }

    /// Asks it to stop, and sees that it does so in order.
    pub async fn stop(mut self) -> Trial {
        self.stop_now().await
    }

    pub async fn stop_now(&mut self) -> Trial {
        tokio::task::block_in_place(|| {
            for member in self.members.iter_mut().flatten() {
                member.process.terminate()?;
            }
            self.process.terminate()
        })
    }

    /// The most memory that was ever resident, in bytes.
    pub fn peak_memory(&self) -> u64 {
        self.status("VmHWM:") * 1024
    }

    pub fn open_descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).map_or(0, Iterator::count)
    }

    fn status(&self, name: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

/// As many as this machine lets us have; the children inherit it.
pub fn allow_many_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

pub fn most_descriptors() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(1 << 20)
}
