//! What must hold before a change is taken in.

use crate::shell::{Chore, cargo, run as execute};
use crate::steps;

pub fn run() -> Chore {
    execute(cargo().args(["fmt", "--all", "--check"]))?;
    execute(cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    steps::run(&[])
}
