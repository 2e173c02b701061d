//! What Lazuli recognises and does not do yet: 501, with a message that the service itself never sends.

use lazuli_model::error::{ErrorCode, Failure};

/// `what` begins the sentence: the title of an operation, or of a service.
pub(crate) fn not_built(what: &str) -> Failure {
    Failure::new(ErrorCode::NotImplemented).with_message(format!(
        "{what} is not built in Lazuli yet. docs/operations.md and `lazuli operations` list what is; \
         docs/compatibility.md says what differs from the service."
    ))
}
