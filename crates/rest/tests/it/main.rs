//! Integration tests of the crate, linked once.

mod auth;
mod golden;
