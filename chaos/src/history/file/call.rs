//! What is asked of the files of one directory, and what is told.

/// Which write made the bytes of a file; 0 of one that was only created.
pub type Version = u64;
/// Which of the names.
pub type Name = usize;

pub const NAMES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Get(Name),
    /// Also in the place of one that is there.
    Create(Name),
    Write(Name, Version),
    Delete(Name),
    Rename {
        from: Name,
        to: Name,
        replaces: bool,
    },
    Copy {
        from: Name,
        to: Name,
    },
}

impl Call {
    pub fn reads(&self) -> bool {
        matches!(self, Self::Get(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    Seen(Version),
    NotFound,
    AlreadyExists,
}

pub type Event = crate::history::event::Event<Call, Answer>;
