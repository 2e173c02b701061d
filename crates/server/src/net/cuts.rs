//! Connections that the server ended by itself, counted by the reason.

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum Reason {
    /// Not a byte came on a fresh connection.
    Silent,
    /// The TLS handshake came to no end.
    Handshake,
    /// The head of a request came to no end.
    Head,
    /// The client took nothing of its answer.
    Unread,
    /// The client took its answer too slowly.
    Slow,
    /// All places were taken, and this connection was idle or had not asked for anything yet.
    Pressure,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Cut {
    reason: Reason,
}

#[derive(Clone, Debug, Default)]
pub struct Cuts(Family<Cut, Counter>);

impl Cuts {
    pub fn count(&self, reason: Reason) {
        self.0.get_or_create(&Cut { reason }).inc();
    }

    /// For the registry.
    pub fn family(&self) -> Family<Cut, Counter> {
        self.0.clone()
    }

    #[cfg(test)]
    pub fn counted(&self, reason: Reason) -> u64 {
        self.0.get_or_create(&Cut { reason }).get()
    }
}
