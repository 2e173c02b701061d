//! The File service over SMB 2.1 to 3.1.1. `wire` knows bytes, `crypto` and `auth` who may, `server` connections and
//! sessions, `command` has one file for each command, `rpc` the pipes. What files mean is in `lazuli-service`.

pub mod auth;
pub mod command;
pub mod crypto;
pub mod rpc;
pub mod server;
pub mod status;
pub mod wire;

pub use auth::users::Users;
pub use server::stats::Stats;
pub use server::{Options, Server};
pub use status::NtStatus;
