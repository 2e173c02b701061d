//! The services over real engines, without a wire.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod contents;
mod copies;
mod plan_sizes;
mod queue;
mod reclaim;
mod support;
mod uploads;
