//! How an operation fails: always in the service's own words.

use lazuli_engine::EngineError;
use lazuli_model::error::{ErrorCode, Failure};

/// A [`Failure`], and the place where an engine's error becomes one.
#[derive(Clone, Debug)]
pub struct Fault(pub Failure);

/// The wire answers with the failure.
impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        fault.0
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<ErrorCode> for Fault {
    fn from(code: ErrorCode) -> Self {
        Self(code.into())
    }
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        let code = match &error {
            // `run` and `outcome` have dealt with these two; here they mean that the tries ran out.
            EngineError::Conflict | EngineError::Unavailable(_) | EngineError::Fenced => {
                ErrorCode::ServerBusy
            }
            EngineError::Unknown => ErrorCode::OperationTimedOut,
            EngineError::OutOfSpace => ErrorCode::InsufficientStorage,
            EngineError::TooLarge(_) | EngineError::Corrupt(_) => ErrorCode::InternalError,
        };
        Self(Failure::new(code).cause(error.to_string()))
    }
}

pub type Answer<T> = Result<T, Fault>;
