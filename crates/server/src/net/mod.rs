//! Sockets to requests: accepting, TLS, hyper, and the limits that keep one client from hurting another.

mod accept;
mod activity;
mod body;
mod connection;
mod guarded;
mod lanes;
mod limits;
pub mod tls;

pub use accept::{Acceptor, Bound, bind};
pub use body::Finished;
pub use connection::{Answering, Peer, Settings as ConnectionSettings};
pub use lanes::Lanes;
