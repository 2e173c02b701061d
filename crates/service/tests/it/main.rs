//! The services over real engines, without a wire.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

/// The same tests run with several servers: `tests/several`.
pub const SERVERS: usize = 1;

mod append;
mod contents;
mod copied_contents;
mod copies;
mod copy_jobs;
mod encryption;
mod events;
mod expiry;
mod holds;
mod last_access;
mod moving;
mod open_file;
mod pages;
mod plan_sizes;
mod queue;
mod reclaim;
mod slow_downloads;
mod support;
mod tags;
#[path = "../../src/testing.rs"]
mod testing;
mod tiers;
mod tree;
mod uncommitted;
mod uploads;
mod versions;
