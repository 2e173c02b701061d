//! Histories of page blobs: pages that are written together are seen together, and sequence numbers order writers.

pub mod bad;
mod call;
mod client;
mod model;
mod tamper;

pub use client::PageBlobs;
