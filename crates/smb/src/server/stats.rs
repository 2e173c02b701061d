//! Figures for the metrics.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::wire::header::Command;

#[derive(Debug, Default)]
pub struct Stats {
    connections: AtomicU64,
    sessions: AtomicU64,
    opens: AtomicU64,
    logon_failures: AtomicU64,
    requests: [AtomicU64; Command::ALL.len()],
}

impl Stats {
    pub fn connections(&self) -> u64 {
        self.connections.load(Relaxed)
    }

    pub fn sessions(&self) -> u64 {
        self.sessions.load(Relaxed)
    }

    pub fn opens(&self) -> u64 {
        self.opens.load(Relaxed)
    }

    pub fn logon_failures(&self) -> u64 {
        self.logon_failures.load(Relaxed)
    }

    /// By the name of the command, of all that there are.
    pub fn requests(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Command::ALL.iter().zip(&self.requests).map(|(command, count)| (command.name(), count.load(Relaxed)))
    }

    pub(super) fn connection_opened(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    pub(super) fn connection_closed(&self) {
        self.connections.fetch_sub(1, Relaxed);
    }

    pub(crate) fn session_opened(&self) {
        self.sessions.fetch_add(1, Relaxed);
    }

    pub(crate) fn session_closed(&self) {
        self.sessions.fetch_sub(1, Relaxed);
    }

    pub(crate) fn file_opened(&self) {
        self.opens.fetch_add(1, Relaxed);
    }

    pub(crate) fn file_closed(&self) {
        self.opens.fetch_sub(1, Relaxed);
    }

    pub(crate) fn logon_failed(&self) {
        self.logon_failures.fetch_add(1, Relaxed);
    }

    pub(super) fn requested(&self, command: Command) {
        if let Some(count) = self.requests.get(command as usize) {
            count.fetch_add(1, Relaxed);
        }
    }
}
