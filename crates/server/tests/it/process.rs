//! Starting and stopping `lazuli` on free loopback ports.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

pub const BINARY: &str = env!("CARGO_BIN_EXE_lazuli");
const PATIENCE: Duration = Duration::from_secs(40);

pub struct Server {
    child: Child,
    addresses: HashMap<String, (String, SocketAddr)>,
    connection_string: String,
}

pub fn command(location: &Path) -> Command {
    let mut command = Command::new(BINARY);
    free_ports(&mut command).arg("--location").arg(location);
    command
}

pub fn in_memory() -> Command {
    let mut command = Command::new(BINARY);
    free_ports(&mut command).arg("--inMemoryPersistence");
    command
}

fn free_ports(command: &mut Command) -> &mut Command {
    for listener in ["blob", "queue", "table", "file", "dfs", "admin"] {
        command.args([format!("--{listener}Port"), "0".to_owned()]);
    }
    // What the machine has set must not leak into a test.
    command.env_remove("AZURITE_ACCOUNTS").env_remove("AZURITE_DB").env_remove("LAZULI_LOG")
}

impl Server {
    /// Waits until the server says that it is ready.
    pub fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        let output = child.stdout.take().expect("piped");
        let mut addresses = HashMap::new();
        let mut connection_string = String::new();
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if line == "lazuli: ready" {
                return Self { child, addresses, connection_string };
            }
            if let Some(text) = line.strip_prefix("lazuli: connection string ") {
                text.clone_into(&mut connection_string);
                continue;
            }
            let (name, url) = line
                .strip_prefix("lazuli: ")
                .and_then(|rest| rest.split_once(" listening on "))
                .unwrap_or_else(|| panic!("not of the promised form: {line}"));
            let (scheme, address) = url.split_once("://").expect("scheme://address");
            addresses.insert(name.to_owned(), (scheme.to_owned(), address.parse().expect("an address")));
        }
        let ended = child.wait_with_output().expect("a child");
        panic!("did not start: {}", String::from_utf8_lossy(&ended.stderr));
    }

    /// As it was announced.
    pub fn connection_string(&self) -> &str {
        &self.connection_string
    }

    pub fn listeners(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.addresses.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    pub fn scheme(&self, listener: &str) -> &str {
        &self.addresses[listener].0
    }

    pub fn address(&self, listener: &str) -> SocketAddr {
        self.addresses[listener].1
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    pub fn wait(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("did not stop");
    }

    /// Stops it and gives what it wrote to stderr.
    pub fn stop(mut self) -> String {
        self.signal("TERM");
        assert!(self.wait().success(), "a clean stop");
        let mut errors = String::new();
        self.child.stderr.take().expect("piped").read_to_string(&mut errors).expect("text");
        errors
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A start that must be refused: exit code 2 and a message.
pub fn refused(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.output().expect("the binary runs");
    let message = String::from_utf8_lossy(&stderr).into_owned();
    assert_eq!(status.code(), Some(2), "{message}");
    message
}
