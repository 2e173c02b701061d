//! A file or directory that an SMB client has open.

use lazuli_model::admission::sharing::{Caching, Open};
use lazuli_model::time::Timestamp;

use super::{Record, stored};
use crate::store::key::Incarnation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRecord {
    /// Whose share it is in, and which.
    pub account: String,
    pub share: String,
    /// What others are judged by: access, share mode, locks.
    pub open: Open,
    /// What the client keeps in its memory.
    pub caching: Caching,
    /// The client's own name of what it keeps, which several of its opens have together.
    pub caching_key: Option<u128>,
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

impl Record for OpenRecord {
    const NAME: &'static str = "open";
    type Newest = stored::open::OpenV1;
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
