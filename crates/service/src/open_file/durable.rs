//! Opens that outlive their connection.

use std::time::Duration;

/// What the client asks for with its open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurableWanted {
    /// `DHnQ`
    One,
    /// `DH2Q`: a time of zero leaves it to the server.
    Two { create_guid: u128, timeout: Duration },
}

/// The open is kept for so long after its connection was lost. Not granted without a batch oplock or a lease that keeps handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurableGranted {
    pub timeout: Duration,
}

/// `DHnC`, `DH2C`: what the client knows of its open.
#[derive(Clone, Debug)]
pub struct Reconnect {
    /// The handle: the persistent half of the file id.
    pub handle: u64,
    /// Of version 2, 0 for an open of version 1; version 1 knows none, and takes up opens of version 2 without it.
    pub create_guid: Option<u128>,
    /// Where the client says that it has a lease; the client's guid must be the one from before.
    pub lease_key: Option<u128>,
    /// As the client gives it; judged where there is a lease.
    pub path: Vec<String>,
}
