//! Sockets to requests: accepting, TLS, hyper, and the limits that keep one client from hurting another.

mod accept;
mod activity;
mod body;
mod chunks;
mod connection;
mod cuts;
mod guarded;
mod lanes;
mod limits;
mod line_ends;
mod opening;
mod stream;
mod taking_rate;
pub mod tls;
mod well_formed;

pub use accept::{Acceptor, Bound, bind};
pub use body::{Ended, Finished};
pub use connection::{Answering, Peer, Settings as ConnectionSettings, Traffic};
pub use lanes::Lanes;
pub use limits::LEAST_RATE;
