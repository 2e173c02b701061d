//! The real binary, from outside.

mod admin;
mod bytes_in_lazuli;
mod client;
mod cluster;
mod configuration;
mod copies;
mod events;
mod few_descriptors;
mod front_door;
mod lifecycle;
mod logs;
mod malformed;
mod metrics;
mod moving;
mod process;
mod several;
mod tls;
mod tls_v1;
