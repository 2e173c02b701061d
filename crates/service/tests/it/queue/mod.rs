//! The Queue service: what its operations promise one by one, and what holds under many hands.

mod bench;
mod head;
mod history;
mod messages;
mod queues;
