//! The server under fire: killed, starved and lied to by the program in chaos/. The short form is a step of the tests;
//! `cargo xtask chaos --long` is the other.

use super::Outcome;
use crate::shell::{Chore, command, run as execute};
use crate::{paths, server};

pub fn run() -> Chore<Outcome> {
    with(&[]).map(|()| Outcome::Passed)
}

pub fn with(arguments: &[&str]) -> Chore {
    server::build()?;
    let work = paths::target().join("chaos");
    std::fs::create_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
    let mut chaos = command(paths::target().join("debug/lazuli-chaos"));
    execute(chaos.arg("--server").arg(server::binary()).arg("--work").arg(&work).args(arguments))
}
