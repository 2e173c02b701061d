//! The outbox of events. The commit that makes or deletes a blob puts a row into it for each subscription that wants to
//! know; a deliverer (`deliver.rs`) takes it out when the event is where it should be. So an event is told if and only if
//! its commit was, whatever happens to the server between the two.

mod counters;
mod deliver;
mod outbox;
mod raise;

pub(super) use counters::Desk;
pub use counters::EventStats;
pub use deliver::{Carrier, Letter, deliver_forever, deliver_once, forget_unknown};

pub use super::record::event::EventRow;
