//! What is asked of one append blob, and what is told.

use crate::history::refusals;
use crate::random::mix;

/// Which request appended a block: the block is this number, and every request has another.
pub type Version = u64;

/// Blocks in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Blocks {
    pub count: u64,
    /// Of their numbers and their order.
    digest: u64,
}

impl Blocks {
    pub fn with(self, version: Version) -> Self {
        Self { count: self.count + 1, digest: mix(self.digest ^ mix(version)) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Read,
    /// Put Blob, with nothing in it.
    Create {
        if_absent: bool,
    },
    Append {
        new: Version,
        /// Only as this block.
        at: Option<u64>,
    },
    Delete,
}

impl Call {
    pub fn reads(&self) -> bool {
        *self == Self::Read
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    /// As which block.
    Appended(u64),
    Seen(Blocks),
    Refused(Refusal),
}

refusals! {
    BlobNotFound 404,
    BlobAlreadyExists 409,
    AppendPositionConditionNotMet 412,
}

pub type Event = crate::history::event::Event<Call, Answer>;
