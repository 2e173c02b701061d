//! What the servers over one engine tell each other: who is alive, what each still reads, who does which job.

use super::{Record, stored};
use crate::store::formats::Formats;
use crate::store::key::{ContentId, Incarnation};

/// A server that is alive, as of its last heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRow {
    /// The epoch that its readers enter. Readers of the next one may be there already.
    pub epoch: u64,
    /// Every reader of an older epoch has left, or reads one of `reading`.
    pub drained: u64,
    pub reading: Vec<ContentId>,
    /// When the row was written, by the engine's clock without what a test moved it by.
    pub beat: u64,
    /// A digest of what servers must have in common, its accounts and their features first: with another one it answers otherwise.
    pub settings: u64,
    /// What it reads of what is stored.
    pub formats: Formats,
}

impl Record for ServerRow {
    const NAME: &'static str = "server";
    type Newest = stored::server::ServerV2;
}

/// A job that one server at a time does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRow {
    pub owner: Incarnation,
    /// Grows whenever the job changes queue_caches. A check of every commit of the job.
    pub epoch: u64,
    /// When another server may take it, by the clock of [`ServerRow::beat`].
    pub until: u64,
}

impl Record for JobRow {
    const NAME: &'static str = "job";
    type Newest = stored::server::JobV1;
}

/// The server that is writing what an intent stands for. Before shape 1 the value was empty; the servers of that time
/// are dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    pub owner: Incarnation,
}

impl Record for Intent {
    const NAME: &'static str = "intent";
    type Newest = stored::server::IntentV1;
}
