//! All tests of the workspace.

use super::Outcome;
use crate::debian;
use crate::shell::{self, Chore, cargo, works};

fn tests() -> Chore {
    if works(cargo().args(["nextest", "--version"])) {
        shell::run(cargo().args(["nextest", "run", "--workspace", "--no-fail-fast"]))?;
        // What must not compile is shown by examples in the documentation, which nextest does not run.
        return shell::run(cargo().args(["test", "--doc", "--package", "lazuli-service"]));
    }
    shell::run(cargo().args(["test", "--workspace", "--no-fail-fast"]))
}

pub fn run() -> Chore<Outcome> {
    if !debian::postgres() {
        eprintln!("left out: the engine on PostgreSQL, which cannot be installed here");
    }
    tests().map(|()| Outcome::Passed)
}
