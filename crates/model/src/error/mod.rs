//! What a refused request is answered: a code of the service's error table, and what goes with it.

mod codes;
mod failure;

pub use codes::ErrorCode;
pub use failure::Failure;
