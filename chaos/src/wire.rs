//! The client that all our test programs share, under the name that the cases know.

pub use lazuli_testing::{Answer, Client, Connection, Lost, Request, connect};
