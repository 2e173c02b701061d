//! What is asked of one blob, and what is told.

use crate::history::refusals;

/// Which write made a content: the body of a blob is this number, and every write has another.
pub type Version = u64;
/// Every client has one lease id of its own.
pub type Holder = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Get,
    Put { new: Version, condition: Condition, lease: Option<Holder> },
    Delete { condition: Condition, lease: Option<Holder> },
    Acquire(Holder),
    Break,
    Release(Holder),
}

impl Call {
    pub fn reads(&self) -> bool {
        *self == Self::Get
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    None,
    /// If-Match with the ETag of this version.
    IfMatch(Version),
    /// If-None-Match: *
    IfAbsent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    Seen(Version, Lease),
    Refused(Refusal),
}

/// As x-ms-lease-state tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    Available,
    Leased,
    Broken,
}

refusals! {
    BlobNotFound 404,
    BlobAlreadyExists 409,
    ConditionNotMet 412,
    LeaseIdMissing 412,
    LeaseIdMismatchWithBlobOperation 412,
    LeaseNotPresentWithBlobOperation 412,
    LeaseLost 412,
    LeaseAlreadyPresent 409,
    LeaseNotPresentWithLeaseOperation 409,
    LeaseIdMismatchWithLeaseOperation 409,
}

pub type Event = crate::history::event::Event<Call, Answer>;
