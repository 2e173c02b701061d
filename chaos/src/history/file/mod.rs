//! Histories of files: bytes, names and copies of a few files in one directory.

pub mod bad;
pub mod call;
mod client;
pub mod model;
mod tamper;

pub use client::Files;
