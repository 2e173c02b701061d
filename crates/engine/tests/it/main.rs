//! The engine from outside. One binary, so that it links once.

mod contract;
mod crash;
mod damage;
mod kill;
