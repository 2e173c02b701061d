//! Closed set of failures, named by what the caller must now do. No engine text leaks to a client.

use crate::key::Key;

/// What was found damaged; for the log, never for a client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Corrupt(pub String);

#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    /// A check failed: read again and decide again.
    #[error("conflict with a concurrent commit")]
    Conflict,
    /// The commit may or may not have happened: ask `outcome`.
    #[error("outcome of the commit is unknown")]
    Unknown,
    /// Overloaded, shutting down, deadline passed, or stopped by an earlier failed sync: try later.
    #[error("unavailable: {0}")]
    Unavailable(&'static str),
    /// No room for new bytes; deletes still work.
    #[error("out of space")]
    OutOfSpace,
    /// Over one of the caps: a mistake of the caller.
    #[error("over a cap: {0}")]
    TooLarge(&'static str),
    /// Another owner took over.
    #[error("fenced")]
    Fenced,
    #[error("corrupt: {0}")]
    Corrupt(Corrupt),
}

/// How `run` ends when it does not commit.
#[derive(Debug)]
pub enum RunError<E> {
    /// The closure refused; its reason.
    Refused(E),
    Engine(EngineError),
}

impl<E> From<EngineError> for RunError<E> {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

/// Why a transaction was not committed; the key, when another transaction's write was the reason.
#[derive(Debug)]
pub(crate) enum Refusal {
    Conflict(Key),
    Error(EngineError),
}

impl From<Refusal> for EngineError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Conflict(_) => Self::Conflict,
            Refusal::Error(error) => error,
        }
    }
}
