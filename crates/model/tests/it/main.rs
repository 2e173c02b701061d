//! The tables of this crate against what others say: the published operations, the published error codes,
//! and recorded answers of the real service, all kept as text in `spec/` at the root of the repository.

mod access;
mod contract;
mod errors;
mod published;
mod recorded;
mod routing;
mod spec;
