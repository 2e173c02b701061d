//! Starting and stopping `lazuli` on free loopback ports.

use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

pub use lazuli_testing::free_ports;

pub const BINARY: &str = env!("CARGO_BIN_EXE_lazuli");
const PATIENCE: Duration = Duration::from_secs(40);

/// The server of a test, which fails when the server does not do what it is told.
pub struct Server(lazuli_testing::Server);

pub fn command(location: &Path) -> Command {
    let mut command = bare();
    command.arg("--location").arg(location);
    command
}

pub fn in_memory() -> Command {
    let mut command = bare();
    command.arg("--inMemoryPersistence");
    command
}

pub fn bare() -> Command {
    let mut command = Command::new(BINARY);
    // What the machine has set must not leak into a test.
    command.env_remove("AZURITE_ACCOUNTS").env_remove("AZURITE_DB").env_remove("LAZULI_LOG");
    free_ports(&mut command);
    command
}

impl Server {
    /// Waits until the server says that it is ready.
    pub fn start(command: &mut Command) -> Self {
        let server = lazuli_testing::Server::start(command.stderr(Stdio::piped())).expect("it starts");
        assert!(server.other_lines().is_empty(), "not of the promised form: {:?}", server.other_lines());
        Self(server)
    }

    pub fn scheme(&self, listener: &str) -> &str {
        &self.listener(listener).expect("a listener").scheme
    }

    pub fn address(&self, listener: &str) -> SocketAddr {
        self.listener(listener).expect("a listener").address
    }

    pub fn signal(&self, name: &str) {
        self.0.signal(name).expect("signalled");
    }

    pub fn is_running(&mut self) -> bool {
        self.ended().is_none()
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.0.wait(PATIENCE).expect("it stops")
    }

    /// Stops it and gives what it wrote to stderr.
    pub fn stop(mut self) -> String {
        self.terminate().expect("a clean stop");
        self.errors()
    }
}

impl Deref for Server {
    type Target = lazuli_testing::Server;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// A start that must be refused: exit code 2 and a message.
pub fn refused(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.output().expect("the binary runs");
    let message = String::from_utf8_lossy(&stderr).into_owned();
    assert_eq!(status.code(), Some(2), "{message}");
    message
}
