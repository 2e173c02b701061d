//! Histories of entities: conditions, groups, and queries that see a whole partition.

pub mod bad;
mod call;
mod client;
mod model;
mod tamper;

pub use client::Partitions;
