//! The real binary, from outside.

mod admin;
mod client;
mod configuration;
mod few_descriptors;
mod lifecycle;
mod logs;
mod process;
mod secret;
mod tls;
