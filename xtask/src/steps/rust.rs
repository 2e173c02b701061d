//! All tests of the workspace.

use super::Outcome;
use crate::shell::{self, Chore, cargo, works};

fn tests() -> Chore {
    if works(cargo().args(["nextest", "--version"])) {
        return shell::run(cargo().args(["nextest", "run", "--workspace", "--no-fail-fast"]));
    }
    shell::run(cargo().args(["test", "--workspace", "--no-fail-fast"]))
}

pub fn run() -> Chore<Outcome> {
    tests().map(|()| Outcome::Passed)
}
