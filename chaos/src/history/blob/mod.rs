//! Histories of blobs: contents, conditions and leases.

pub mod bad;
pub mod call;
mod client;
pub mod model;
mod tamper;

pub use client::Blobs;
