//! The engine from outside. One binary, so that it links once.

// A failed expectation is a failed test.
#![allow(clippy::unwrap_used)]

mod contract;
mod crash;
mod damage;
mod kill;
#[cfg(feature = "objects")]
mod objects;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod remote;
#[cfg(feature = "objects")]
mod settled;
#[cfg(feature = "postgres")]
mod tls;
