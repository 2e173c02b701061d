//! What `tests/it` tests, over and over with another of several servers over one engine: nothing that decides may live in
//! one process. And what only several servers can show.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

pub const SERVERS: usize = 3;

#[path = "../it/append.rs"]
mod append;
#[path = "../it/contents.rs"]
mod contents;
#[path = "../it/copied_contents.rs"]
mod copied_contents;
#[path = "../it/copies.rs"]
mod copies;
#[path = "../it/copy_jobs.rs"]
mod copy_jobs;
#[path = "../it/encryption/mod.rs"]
mod encryption;
#[path = "../it/events/mod.rs"]
mod events;
#[path = "../it/expiry.rs"]
mod expiry;
#[path = "../it/holds.rs"]
mod holds;
#[path = "../it/last_access.rs"]
mod last_access;
mod members;
mod on_one;
#[path = "../it/open_file/mod.rs"]
mod open_file;
#[path = "../it/pages.rs"]
mod pages;
#[path = "../it/plan_sizes.rs"]
mod plan_sizes;
#[path = "../it/queue/mod.rs"]
mod queue;
#[path = "../it/reclaim.rs"]
mod reclaim;
mod rows;
mod schedule;
#[path = "../it/slow_downloads.rs"]
mod slow_downloads;
#[path = "../it/support.rs"]
mod support;
#[path = "../it/tags.rs"]
mod tags;
#[path = "../../src/testing.rs"]
mod testing;
#[path = "../it/tiers.rs"]
mod tiers;
#[path = "../it/tree/mod.rs"]
mod tree;
#[path = "../it/uncommitted.rs"]
mod uncommitted;
#[path = "../it/uploads.rs"]
mod uploads;
#[path = "../it/versions/mod.rs"]
mod versions;
