//! The Queue service: what its operations promise one by one, and what holds under many hands.

mod bench;
mod head;
mod history;
mod messages;
mod queues;

#[allow(unused_imports, reason = "of the tests with several servers")]
pub use bench::Bench;
