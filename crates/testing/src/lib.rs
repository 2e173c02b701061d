//! What our test programs share: an HTTP/1.1 client, Shared Key and shared access signatures, a server as a child process.
//!
//! The server's own code checks what is signed here. So nothing here comes from the crates of the server, and nothing of the
//! server may come from here: strings to sign are written after the published pages, a second time.

mod guard;
mod link;
pub mod patroni;
pub mod postgres;
mod process;
pub mod seaweed;
mod server;
pub mod xml;

#[cfg(feature = "client")]
mod answer;
#[cfg(feature = "client")]
pub mod blocking;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod decoder;
#[cfg(feature = "client")]
mod request;
#[cfg(feature = "client")]
pub mod sas;
#[cfg(feature = "client")]
mod shared_key;

pub use process::{Process, with_descriptors};
pub use server::{Listener, Server, free_ports};

#[cfg(feature = "client")]
pub use answer::Answer;
#[cfg(feature = "client")]
pub use client::{Client, Connection, Lost, connect};
#[cfg(feature = "client")]
pub use request::Request;
#[cfg(feature = "client")]
pub use shared_key::{Form, Key, Scheme, Signable, Signer, decode_query, string_to_sign};

/// The development account, whose key everybody knows.
pub const ACCOUNT: &str = "devstoreaccount1";
pub const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
