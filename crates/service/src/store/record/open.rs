//! A file or directory that an SMB client has open.

use std::time::Duration;

use lazuli_model::admission::sharing::Open;
use lazuli_model::smb::AccessMask;
use lazuli_model::time::Timestamp;

use super::{Record, stored};
use crate::store::key::Incarnation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRecord {
    /// Whose share it is in, and which.
    pub account: String,
    pub share: String,
    /// What others are judged by: access, share mode, locks, what the client keeps in its memory.
    pub open: Open,
    pub granted: AccessMask,
    /// As the client asked for them, numbered as SMB does.
    pub options: u32,
    /// The client's own name of itself.
    pub client: u128,
    /// Where the client keeps what it does by a lease, and not by an oplock of this open alone.
    pub lease: Option<LeaseDetail>,
    pub durable: Option<Durable>,
    /// The file goes when this is closed.
    pub delete_on_close: bool,
    /// The path as it was opened.
    pub path: String,
    pub session: u64,
    pub client_address: String,
    pub client_name: Option<String>,
    /// The server that the client speaks to: when that is dead, the open is over.
    pub server: Incarnation,
    pub opened: Timestamp,
    pub reconnected: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeaseDetail {
    /// It counts its changes, and may name the lease of its directory.
    pub is_second_version: bool,
    pub parent: Option<u128>,
    pub epoch: u16,
}

/// An open that outlives its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// By which the client names it when it comes back; of the second version.
    pub create_guid: Option<u128>,
    pub milliseconds: u32,
    /// When its connection was lost.
    pub disconnected: Option<Timestamp>,
}

impl Durable {
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.milliseconds))
    }
}

impl OpenRecord {
    /// An open by a client of which nothing is known.
    pub fn new(open: Open, server: Incarnation) -> Self {
        Self {
            account: String::new(),
            share: String::new(),
            open,
            granted: AccessMask::NONE,
            options: 0,
            client: 0,
            lease: None,
            durable: None,
            delete_on_close: false,
            path: String::new(),
            session: 0,
            client_address: String::new(),
            client_name: None,
            server,
            opened: Timestamp(0),
            reconnected: None,
        }
    }

    /// Nobody came back for it in time: it counts no more, whether the sweeper has closed it or not.
    pub fn is_over(&self, now: Timestamp) -> bool {
        let over = |durable: &Durable| {
            let ticks = u64::from(durable.milliseconds) * 10_000;
            durable.disconnected.is_some_and(|since| since.0.saturating_add(ticks) <= now.0)
        };
        self.durable.as_ref().is_some_and(over)
    }
}

impl Record for OpenRecord {
    const NAME: &'static str = "open";
    type Newest = stored::open::OpenV2;
}

/// Stands beside the opens of a node as long as there are any. Every change of one of them changes it, so that to have
/// read it is to have read them all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpensRecord {
    pub count: u32,
    /// Grows with every change.
    pub changes: u64,
    pub delete_pending: bool,
}

impl Record for OpensRecord {
    const NAME: &'static str = "opens of a node";
    type Newest = stored::open::OpensV1;
}
