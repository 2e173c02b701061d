//! What is thrown at the decoders, and what must then hold. Each target takes any bytes and panics when a promise is
//! broken; a refusal is never a fault. libFuzzer drives them from `fuzz/`, a seeded mutator from this crate's test.

// A broken promise is a panic here: that is what both drivers look for.
#![allow(clippy::unwrap_used)]

mod address;
pub mod batch;
mod changeset;
pub mod credentials;
mod document;
mod fields;
mod filter;
mod header;
mod message;
pub mod mutate;
mod permission;
mod query;
mod record;
pub mod recovery;
pub mod request;
mod smb_logon;
mod smb_message;
mod smb_pipe;
mod structured;
pub mod tags;

pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// Mutated inputs in a run of the test; what costs a directory or an engine gets fewer.
    pub rounds: u32,
}

pub const TARGETS: &[Target] = &[
    Target { name: "address", run: address::run, rounds: 20_000 },
    Target { name: "batch", run: batch::run, rounds: 400 },
    Target { name: "changeset", run: changeset::run, rounds: 20_000 },
    Target { name: "credentials", run: credentials::run, rounds: 4_000 },
    Target { name: "document", run: document::run, rounds: 10_000 },
    Target { name: "filter", run: filter::run, rounds: 20_000 },
    Target { name: "header", run: header::run, rounds: 20_000 },
    Target { name: "message", run: message::run, rounds: 10_000 },
    Target { name: "permission", run: permission::run, rounds: 20_000 },
    Target { name: "query", run: query::run, rounds: 10_000 },
    Target { name: "record", run: record::run, rounds: 6_000 },
    Target { name: "recovery", run: recovery::run, rounds: 20 },
    Target { name: "request", run: request::run, rounds: 400 },
    Target { name: "smb_logon", run: smb_logon::run, rounds: 10_000 },
    Target { name: "smb_message", run: smb_message::run, rounds: 20_000 },
    Target { name: "smb_pipe", run: smb_pipe::run, rounds: 5_000 },
    Target { name: "structured", run: structured::run, rounds: 20_000 },
    Target { name: "tags", run: tags::run, rounds: 20_000 },
];

pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// For drivers that know the name only.
pub fn drive(name: &str, data: &[u8]) {
    let target = target(name).unwrap_or_else(|| panic!("no target {name}"));
    (target.run)(data);
}
