//! What a database's error means for what was asked of it.

use crate::error::{Corrupt, EngineError};
use tokio_postgres::error::{DbError, Severity, SqlState};

#[derive(Debug)]
pub(super) enum Fault {
    /// Nothing was done. It may be done the next time: another transaction was in the way.
    Again,
    /// Nothing was done: too many locks at a time.
    Locks,
    /// Nothing was done: the node is not the primary, or not yet or no more a server.
    NotPrimary,
    /// Nothing was done: the row of the group is there already.
    Settled,
    /// No connection was made: the database takes no more of them. That says nothing about those that there are.
    Crowded,
    /// Nothing was done: the database's disk is full.
    NoRoom,
    /// The connection is gone. What was asked for may or may not have been done.
    Lost(String),
    /// Nothing was done. The text is for the log.
    Unexpected(String),
}

impl Fault {
    pub fn lost(why: &str) -> Self {
        Self::Lost(why.into())
    }

    /// The connection is of no more use.
    pub fn ends_connection(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::NotPrimary)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Again => f.write_str("another transaction was in the way"),
            Self::Locks => f.write_str("out of locks"),
            Self::NotPrimary => f.write_str("not the primary"),
            Self::Settled => f.write_str("settled already"),
            Self::Crowded => f.write_str("the database takes no more connections"),
            Self::NoRoom => f.write_str("the database's disk is full"),
            Self::Lost(why) | Self::Unexpected(why) => f.write_str(why),
        }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(told) = error.as_db_error() else {
            // Of the driver itself: no answer came, or arguments or columns are not of the type that was expected.
            let source = std::error::Error::source(&error);
            let ours = !error.is_closed() && source.is_some_and(|source| !source.is::<std::io::Error>());
            let text = source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
            return if ours { Self::Unexpected(text) } else { Self::Lost(text) };
        };
        judge(
            told,
            told.parsed_severity()
                .is_some_and(|severity| matches!(severity, Severity::Fatal | Severity::Panic)),
        )
    }
}

fn judge(told: &DbError, fatal: bool) -> Fault {
    let code = told.code();
    let class = code.code().get(..2).unwrap_or_default();
    if *code == SqlState::READ_ONLY_SQL_TRANSACTION || *code == SqlState::CANNOT_CONNECT_NOW {
        Fault::NotPrimary
    } else if *code == SqlState::TOO_MANY_CONNECTIONS {
        Fault::Crowded
    } else if fatal
        || class == "08"
        || code.code().starts_with("57P")
        || *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
    {
        // Also a backend that was told to end while it waited for a standby: its transaction is committed on this node. And a
        // database that ends because there is no room for its log, maybe behind what was committed.
        Fault::Lost(format!("{told} ({})", code.code()))
    } else if *code == SqlState::DISK_FULL {
        Fault::NoRoom
    } else if [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::QUERY_CANCELED,
    ]
    .contains(code)
    {
        Fault::Again
    } else if *code == SqlState::OUT_OF_MEMORY {
        Fault::Locks
    } else if class == "53" || class == "54" {
        // As when no numbers of transactions are left: nothing is damaged, and an operator can mend it.
        tracing::warn!(code = code.code(), "the database has not enough of something: {told}");
        Fault::Again
    } else if *code == SqlState::UNIQUE_VIOLATION && told.table() == Some("grp") {
        Fault::Settled
    } else {
        Fault::Unexpected(format!("{told} ({})", code.code()))
    }
}

impl From<tokio_postgres::Error> for EngineError {
    fn from(error: tokio_postgres::Error) -> Self {
        Fault::from(error).into()
    }
}

/// For those who read: they have no more to do with it.
impl From<Fault> for EngineError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unexpected(text) => {
                tracing::error!(text, "the database refused a statement");
                Self::Corrupt(Corrupt(text))
            }
            Fault::Again | Fault::Locks | Fault::Crowded => Self::Unavailable("the database is busy"),
            Fault::NoRoom => Self::OutOfSpace,
            Fault::NotPrimary | Fault::Settled | Fault::Lost(_) => Self::Unavailable("no database"),
        }
    }
}

#[cfg(test)]
mod tests;
