//! What is asked of one small partition, and what is told. The partition is one subject: groups change several of its
//! entities, and a query sees them all.

/// Which write made an entity: its only property is this number, and every write has another. 0 for no entity.
pub type Version = u64;
/// One of the entities of the partition.
pub type Key = usize;

pub const KEYS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Get(Key),
    Query,
    Change(Change),
    /// An entity group transaction, in the order of the keys.
    Group([Option<Change>; KEYS]),
}

impl Call {
    pub fn reads(&self) -> bool {
        matches!(self, Self::Get(_) | Self::Query)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub key: Key,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Insert(Version),
    /// Insert Or Replace, Insert Or Merge.
    Upsert(Version),
    /// Update, Merge.
    Update(Version, Match),
    Delete(Match),
}

/// If-Match
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    Any,
    Version(Version),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    Seen(Version),
    SeenAll([Version; KEYS]),
    /// Which of the changes, and why.
    Refused(usize, Refusal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    ResourceNotFound,
    EntityAlreadyExists,
    UpdateConditionNotSatisfied,
}

impl Refusal {
    pub fn read(code: &str) -> Option<Self> {
        match code {
            "ResourceNotFound" => Some(Self::ResourceNotFound),
            "EntityAlreadyExists" => Some(Self::EntityAlreadyExists),
            "UpdateConditionNotSatisfied" => Some(Self::UpdateConditionNotSatisfied),
            _ => None,
        }
    }

    pub fn status(self) -> u16 {
        match self {
            Self::ResourceNotFound => 404,
            Self::EntityAlreadyExists => 409,
            Self::UpdateConditionNotSatisfied => 412,
        }
    }
}

pub type Event = crate::history::event::Event<Call, Answer>;
