//! conformance/clients/python, run by pytest in a virtual environment of its own.

use std::path::Path;

use super::Outcome;
use crate::paths;
use crate::server::Server;
use crate::shell::{Chore, command, run as execute, works};

const TESTS: &str = "conformance/clients/python";

pub fn run() -> Chore<Outcome> {
    let tests = paths::root().join(TESTS);
    let requirements = tests.join("requirements.txt");
    if !requirements.is_file() {
        return Ok(Outcome::Skipped("conformance/clients/python is not written yet"));
    }
    let python = install(&requirements)?;
    let server = Server::start("python")?;
    let mut pytest = command(python);
    pytest.args(["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS]).envs(server.environment());
    execute(&mut pytest)?;
    Ok(Outcome::Passed)
}

/// The interpreter of an environment that has what the tests need; made anew only when the list changes.
fn install(requirements: &Path) -> Chore<std::path::PathBuf> {
    let venv = paths::target().join("venv");
    let python = venv.join("bin/python");
    let wanted =
        std::fs::read_to_string(requirements).map_err(|error| format!("requirements.txt: {error}"))?;
    let stamp = venv.join("installed.txt");
    let installed = std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted);
    if installed && works(command(&python).args(["-c", "import pytest"])) {
        return Ok(python);
    }
    execute(command("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    execute(command(&python).args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(requirements))
        .map_err(|reason| {
            format!("{reason}\nthe clients are installed once, from PyPI or the index pip is told")
        })?;
    std::fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(python)
}
