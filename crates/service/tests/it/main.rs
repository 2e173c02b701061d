//! The services over real engines, without a wire.

mod contents;
mod queue;
mod support;
