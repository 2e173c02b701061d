//! The server under fire: killed, starved and lied to by the program in chaos/. The short form is a step of the tests;
//! `cargo xtask chaos --long` is the other, and fires at what is packaged: the build of the profile `dist`.

use std::path::Path;

use super::Outcome;
use crate::shell::{Chore, cargo_dist, command, run as execute};
use crate::{debian, paths, server};

pub fn run() -> Chore<Outcome> {
    with(&[]).map(|()| Outcome::Passed)
}

pub fn with(arguments: &[&str]) -> Chore {
    if arguments.contains(&"--cluster") && !debian::postgres() {
        eprintln!("skipped: PostgreSQL cannot be installed here (apt-get install postgresql)");
        return Ok(());
    }
    if arguments.contains(&"--long") {
        execute(cargo_dist("build").args(["--package", "lazuli", "--package", "lazuli-chaos"]))?;
        fire(&paths::dist(), arguments)
    } else {
        server::build()?;
        fire(&paths::target().join("debug"), arguments)
    }
}

fn fire(built: &Path, arguments: &[&str]) -> Chore {
    let work = paths::target().join("chaos");
    std::fs::create_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
    let mut chaos = command(built.join("lazuli-chaos"));
    chaos.arg("--server").arg(built.join("lazuli")).arg("--work").arg(&work);
    execute(chaos.args(arguments))
}
