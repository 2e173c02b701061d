//! What is asked of one small page blob, and what is told.

use crate::history::refusals;

/// Which request made a page, or changed the blob last: every request that writes has another. 0 for a page that is clear.
pub type Version = u64;

pub const PAGES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Read,
    /// Put Blob, with nothing in it.
    Create {
        new: Version,
        if_absent: bool,
    },
    /// Put Page.
    Write {
        new: Version,
        pages: Pages,
        condition: Condition,
    },
    Clear {
        new: Version,
        pages: Pages,
        condition: Condition,
    },
    /// Set Blob Properties.
    Sequence {
        new: Version,
        action: Action,
    },
    Delete,
}

impl Call {
    pub fn reads(&self) -> bool {
        *self == Self::Read
    }

    /// The version that it leaves, if it leaves a blob.
    pub fn made(&self) -> Option<Version> {
        match *self {
            Self::Create { new, .. }
            | Self::Write { new, .. }
            | Self::Clear { new, .. }
            | Self::Sequence { new, .. } => Some(new),
            Self::Read | Self::Delete => None,
        }
    }
}

/// Pages that lie beside one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    pub first: usize,
    pub last: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    None,
    /// If-Match with the ETag that this request left.
    IfMatch(Version),
    SequenceBelow(u64),
    SequenceIs(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Increment,
    Max(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    /// The pages and the sequence number.
    Seen([Version; PAGES], u64),
    Refused(Refusal),
}

refusals! {
    BlobNotFound 404,
    BlobAlreadyExists 409,
    ConditionNotMet 412,
    SequenceNumberConditionNotMet 412,
}

pub type Event = crate::history::event::Event<Call, Answer>;
