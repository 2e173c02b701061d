//! Who asks, and may they.

#![allow(clippy::unwrap_used, reason = "in tests, helpers included")]

mod batch;
mod bearer;
mod copy_sources;
mod effects;
mod file_copy_sources;
mod files;
mod matrix;
mod rules;
mod sas;
mod shared_key;
mod support;
mod table_range;
mod unbuilt;
mod unread;
mod vectors;
mod world;
