//! Recorded conversations of the official clients with the real service, sent again. `conformance/replay/run.py`
//! judges what differs by lists that may only get shorter.

use super::Outcome;
use crate::paths;
use crate::server;
use crate::shell::{Chore, command, run as execute};

const RUNNER: &str = "conformance/replay/run.py";

pub fn run() -> Chore<Outcome> {
    execute(command("python3").args(["-B", "conformance/replay/selftest.py"]))?;
    let Some(recordings) = paths::replay() else {
        return Ok(Outcome::Skipped("../shared/replay is not here"));
    };
    // The runner starts one for each kind of account that recordings were made on.
    server::build()?;
    let mut python = command("python3");
    python.args(["-B", RUNNER, "--server"]).arg(server::binary());
    python.arg("--replay").arg(recordings).arg("--out").arg(paths::target().join("replay"));
    execute(&mut python)?;
    Ok(Outcome::Passed)
}
