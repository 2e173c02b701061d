//! `lazuli` as a child, on free loopback ports.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::process::Command;
use std::time::Duration;

use crate::Process;

const PATIENCE: Duration = Duration::from_secs(60);
const LISTENERS: [&str; 7] = ["blob", "queue", "table", "file", "dfs", "smb", "admin"];

/// Every listener gets a port that is free.
pub fn free_ports(command: &mut Command) -> &mut Command {
    command.args(LISTENERS.into_iter().flat_map(|listener| [format!("--{listener}Port"), "0".to_owned()]))
}

pub struct Listener {
    pub scheme: String,
    pub address: SocketAddr,
}

/// Killed when dropped.
pub struct Server {
    process: Process,
    announced: Announced,
}

/// The lines that the server writes before it is ready.
#[derive(Default)]
struct Announced {
    listeners: BTreeMap<String, Listener>,
    connection_string: String,
    others: Vec<String>,
}

impl Announced {
    /// Whether that was the last one.
    fn take(&mut self, line: &str) -> bool {
        let said = line.strip_prefix("lazuli: ").unwrap_or_default();
        if let Some(text) = said.strip_prefix("connection string ") {
            text.clone_into(&mut self.connection_string);
        } else if let Some((name, listener)) = listener(said) {
            self.listeners.insert(name.to_owned(), listener);
        } else if said != "ready" {
            self.others.push(line.to_owned());
        }
        said == "ready"
    }
}

fn listener(said: &str) -> Option<(&str, Listener)> {
    let (name, url) = said.split_once(" listening on ")?;
    let (scheme, address) = url.split_once("://")?;
    Some((name, Listener { scheme: scheme.to_owned(), address: address.parse().ok()? }))
}

impl Server {
    /// Waits until the server says that it is ready.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let mut announced = Announced::default();
        let ready = |line: &str| announced.take(line).then_some(());
        let (process, ()) = Process::start(command, PATIENCE, ready)?;
        Ok(Self { process, announced })
    }

    pub fn listener(&self, name: &str) -> Option<&Listener> {
        self.announced.listeners.get(name)
    }

    /// In the order of their names.
    pub fn listeners(&self) -> Vec<&str> {
        self.announced.listeners.keys().map(String::as_str).collect()
    }

    pub fn connection_string(&self) -> &str {
        &self.announced.connection_string
    }

    /// Lines that are neither of a listener nor the connection string.
    pub fn other_lines(&self) -> &[String] {
        &self.announced.others
    }

    /// Asks the server to stop, and sees that it does so in order.
    pub fn terminate(&mut self) -> Result<(), String> {
        self.process.signal("TERM")?;
        match self.process.wait(PATIENCE) {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!("the server did not stop in order: {status}")),
            None => Err("the server did not stop".to_owned()),
        }
    }
}

impl Deref for Server {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.process
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.process
    }
}

#[cfg(test)]
mod tests {
    use super::Announced;

    #[test]
    fn lines_are_told_apart() {
        let mut announced = Announced::default();
        let lines = [
            "lazuli: blob listening on https://127.0.0.1:41",
            "lazuli: connection string AccountName=a;AccountKey=b;",
            "lazuli: table listening on nowhere",
            "something else",
        ];
        assert!(!lines.into_iter().any(|line| announced.take(line)));
        assert!(announced.take("lazuli: ready"));
        let blob = &announced.listeners["blob"];
        assert_eq!((blob.scheme.as_str(), blob.address.port()), ("https", 41));
        assert_eq!(announced.connection_string, "AccountName=a;AccountKey=b;");
        assert_eq!(announced.others, ["lazuli: table listening on nowhere", "something else"]);
    }
}
