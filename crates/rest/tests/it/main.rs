//! Integration tests of the crate, linked once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod auth;
mod golden;
mod printed;
mod upgrade;
