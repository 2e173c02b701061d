//! Leases where clocks and processes fail.

pub mod crash;
pub mod upload;
pub mod wall;
