//! What we do beside fjall, to its files and its threads. What all of it relies on is written down in
//! docs/what-we-rely-on-of-fjall.md.

pub mod background;
pub mod fast_create;
pub mod journal;
pub mod log;
pub mod log_preallocator;
pub mod marker;
pub mod memtable_reaper;
pub mod tables;
