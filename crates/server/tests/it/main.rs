//! The real binary, from outside.

mod admin;
mod client;
mod configuration;
mod events;
mod few_descriptors;
mod front_door;
mod lifecycle;
mod logs;
mod malformed;
mod metrics;
mod process;
mod several;
mod tls;
mod tls_v1;
