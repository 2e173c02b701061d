//! Histories of append blobs: every block has one place, and stays there.

pub mod bad;
mod call;
mod client;
mod model;
mod tamper;

pub use client::AppendBlobs;
