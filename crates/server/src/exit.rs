//! With which status the process ends. A supervisor decides by it whether another start may help.

use std::process::ExitCode;

use lazuli_engine::{ConnectError, EngineError};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::moving::MoveError;

use crate::secret::SecretError;

/// Used or set up wrongly: another start would end alike.
const WRONG: u8 = 2;
/// An I/O error stopped the engine (EX_IOERR): the supervisor should restart the process, which recovers.
pub const ENGINE_STOPPED: u8 = 74;
/// Not every request could be finished in time (EX_TEMPFAIL, as below).
pub const CUT_SHORT: u8 = 75;
/// What is needed did not answer, as when a machine comes up before its database (EX_TEMPFAIL): try again.
const NOT_YET: u8 = 75;

pub fn not_started(error: &(dyn std::error::Error + Send + Sync + 'static)) -> ExitCode {
    ExitCode::from(if is_temporary(error) { NOT_YET } else { WRONG })
}

fn is_temporary(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    if let Some(error) = error.downcast_ref() {
        // A wrong password looks the same: the database may be the one that has not been told it yet.
        matches!(error, ConnectError::NoPrimary(_) | ConnectError::NoDatabase(_) | ConnectError::NoBytes(_))
    } else if let Some(error) = error.downcast_ref() {
        passes(error)
    } else if let Some(MoveError::Engine(error)) = error.downcast_ref() {
        passes(error)
    } else if let Some(SecretError::Engine(failure)) = error.downcast_ref() {
        is_busy(failure)
    } else if let Some(failure) = error.downcast_ref() {
        is_busy(failure)
    } else {
        false
    }
}

fn passes(error: &EngineError) -> bool {
    matches!(error, EngineError::Unavailable(_) | EngineError::Unknown)
}

fn is_busy(failure: &Failure) -> bool {
    matches!(failure.code, ErrorCode::ServerBusy | ErrorCode::OperationTimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_told_from_what_will_not() {
        let is = |error: Box<dyn std::error::Error + Send + Sync>| is_temporary(&*error);
        assert!(is(ConnectError::NoPrimary("no answer".into()).into()));
        assert!(is(ConnectError::NoBytes("no answer".into()).into()));
        assert!(!is(ConnectError::Bytes("this place holds the chunks of another database".into()).into()));
        assert!(is(ConnectError::NoDatabase("no answer in time".into()).into()));
        assert!(!is(ConnectError::Database("permission denied".into()).into()));
        assert!(!is(ConnectError::Unsafe("fsync".into()).into()));
        assert!(is(EngineError::Unavailable("no primary is proven").into()));
        assert!(is(Failure::new(ErrorCode::ServerBusy).into()));
        assert!(!is(Failure::new(ErrorCode::InternalError).into()));
        assert!(!is("no server".into()));
    }
}
