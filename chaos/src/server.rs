//! The server under test, as a process of ours.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};

use crate::Trial;
use crate::options::Options;

const START_PATIENCE: Duration = Duration::from_secs(60);
const STOP_PATIENCE: Duration = Duration::from_secs(60);

/// How a server is started; again and again over the same data.
pub struct Launch {
    binary: PathBuf,
    data: PathBuf,
    log: PathBuf,
    arguments: Vec<String>,
    descriptors: Option<u32>,
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

    /// With a directory that somebody else removes. The log is kept, for whoever asks why.
    pub fn at(options: &Options, case: &str, data: &Path) -> Self {
        Self {
            binary: options.server.clone(),
            data: data.to_owned(),
            log: options.work.join(format!("chaos-{case}.log")),
            arguments: Vec::new(),
            descriptors: None,
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

    /// Waits until it says that it is ready.
    pub fn start(&self) -> Trial<Server> {
        tokio::task::block_in_place(|| self.start_now())
    }

    fn start_now(&self) -> Trial<Server> {
        let mut command = match self.descriptors {
            None => Command::new(&self.binary),
            Some(most) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", "ulimit -n \"$0\"; exec \"$@\"", &most.to_string()]).arg(&self.binary);
                shell
            }
        };
        for listener in ["blob", "queue", "table", "file", "dfs", "admin"] {
            command.args([format!("--{listener}Port"), "0".to_owned()]);
        }
        let log = File::options().create(true).append(true).open(&self.log);
        let log = log.map_err(|error| format!("{}: {error}", self.log.display()))?;
        command.args(&self.arguments).arg("--silent").arg("--location").arg(&self.data);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let child = command.spawn().map_err(|error| format!("the server cannot be run: {error}"))?;
        let mut server = Server {
            child,
            blob: nowhere(),
            queue: nowhere(),
            table: nowhere(),
            admin: nowhere(),
            others: vec![],
        };
        let told = listen(&mut server.child)?;
        let end = Instant::now() + START_PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(line) = told.recv_timeout(left) else {
                return Err(format!("the server did not start; see {}", self.log.display()));
            };
            if line == "lazuli: ready" {
                return Ok(server);
            }
            let Some((name, url)) =
                line.strip_prefix("lazuli: ").and_then(|rest| rest.split_once(" listening on "))
            else {
                continue;
            };
            let address = url.split_once("://").and_then(|(_, address)| address.parse().ok());
            // Servers behind the first are announced with their number.
            if let Some((name, number)) = name.split_once('-') {
                let number: usize = number.parse().map_err(|_| format!("what is {line}?"))?;
                server.others.resize(server.others.len().max(number - 1), Doors::nowhere());
                let doors = &mut server.others[number - 2];
                match (name, address) {
                    ("blob", Some(address)) => doors.blob = address,
                    ("queue", Some(address)) => doors.queue = address,
                    ("table", Some(address)) => doors.table = address,
                    _ => {}
                }
                continue;
            }
            match (name, address) {
                ("blob", Some(address)) => server.blob = address,
                ("queue", Some(address)) => server.queue = address,
                ("table", Some(address)) => server.table = address,
                ("admin", Some(address)) => server.admin = address,
                _ => {}
            }
        }
    }
}

fn nowhere() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// Lines of its output. Read to the end, so that the server never waits for us.
fn listen(child: &mut Child) -> Trial<mpsc::Receiver<String>> {
    let output = child.stdout.take().ok_or("the server has no output")?;
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    Ok(told)
}

/// Where its services are.
#[derive(Clone, Copy, Debug)]
pub struct Doors {
    pub blob: SocketAddr,
    pub queue: SocketAddr,
    pub table: SocketAddr,
}

impl Doors {
    fn nowhere() -> Self {
        Self { blob: nowhere(), queue: nowhere(), table: nowhere() }
    }
}

/// Killed when dropped.
pub struct Server {
    child: Child,
    pub blob: SocketAddr,
    pub queue: SocketAddr,
    pub table: SocketAddr,
    pub admin: SocketAddr,
    /// Of servers over the same engine, in the same process.
    others: Vec<Doors>,
}

impl Server {
    pub fn doors(&self) -> Doors {
        Doors { blob: self.blob, queue: self.queue, table: self.table }
    }

    /// Of every server over the engine.
    pub fn all_doors(&self) -> Vec<Doors> {
        std::iter::once(self.doors()).chain(self.others.iter().copied()).collect()
    }

    /// kill -9: whatever was not written is not written.
    pub fn kill(mut self) {
        self.end();
    }

    /// The same, when it cannot be given away. It is dead when this returns.
    pub fn kill_now(&mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// None while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    pub fn must_run(&mut self) -> Trial {
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
        let id = Pid::from_child(&self.child);
        kill_process(id, Signal::TERM).map_err(|error| format!("cannot signal the server: {error}"))?;
        let end = Instant::now() + STOP_PATIENCE;
        while Instant::now() < end {
            match self.ended() {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server did not stop in order: {status}")),
                None => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
        Err("the server did not stop".to_owned())
    }

    /// The most memory that was ever resident, in bytes.
    pub fn peak_memory(&self) -> u64 {
        self.status("VmHWM:") * 1024
    }

    pub fn open_descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    fn status(&self, name: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
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
