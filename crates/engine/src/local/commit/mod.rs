//! How transactions become durable groups: they wait ([`pending`]), the [judge](judge) decides about each and writes
//! a group of them, the [committer](committer) makes it durable and visible, and [`notify`] tells every waiter.

pub mod committer;
pub mod flusher;
pub mod judge;
pub mod notify;
pub mod pending;
pub mod recent_writes;
