//! The engine from outside. One binary, so that it links once.

// A failed expectation is a failed test.
#![allow(clippy::unwrap_used)]

mod contract;
mod crash;
mod damage;
mod kill;
