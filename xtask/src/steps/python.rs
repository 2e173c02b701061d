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
    let server = Server::start("python")?;
    against(&server.environment(), &[]).map(|()| Outcome::Passed)
}

/// With these variables, and without some of the tests.
pub fn against(environment: &[(&'static str, String)], without: &[&str]) -> Chore {
    let python = install(&paths::root().join(TESTS).join("requirements.txt"), "venv")?;
    let mut pytest = command(python);
    pytest.args(["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS]);
    pytest.args(without.iter().map(|test| format!("--deselect={TESTS}/{test}")));
    execute(pytest.envs(environment.iter().map(|(name, value)| (name, value))))
}

/// The interpreter of an environment that has what the tests need; made anew only when the list changes.
pub fn install(requirements: &Path, name: &str) -> Chore<std::path::PathBuf> {
    let venv = paths::target().join(name);
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
