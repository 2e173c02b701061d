//! The Queue service: what its operations promise one by one, and what holds under many queue_caches.

mod bench;
mod head;
mod history;
mod messages;
mod queues;

#[allow(unused_imports, reason = "of the tests with several servers")]
pub use bench::Bench;
