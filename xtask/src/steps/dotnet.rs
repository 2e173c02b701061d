//! conformance/clients/dotnet: programs on Microsoft's storage clients for .NET. Compiler, runtime and clients are installed
//! below the target directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;
use crate::shell::{Chore, command, run as execute};
use crate::{paths, server};

/// What install.py ends with where the clients cannot be had.
const MISSING: i32 = 77;

pub fn run() -> Chore<Outcome> {
    let place = match install()? {
        Ok(place) => place,
        Err(skipped) => return Ok(skipped),
    };
    server::build()?;
    execute(runner(&place).arg("--server").arg(server::binary()))?;
    Ok(Outcome::Passed)
}

/// Where everything is then, or why it cannot be had.
pub fn install() -> Chore<Result<PathBuf, Outcome>> {
    let place = paths::target().join("dotnet");
    let mut install = command("python3");
    install.args(["-B", "conformance/clients/dotnet/install.py"]).arg(&place);
    let status = install.status().map_err(|error| format!("cannot run python3: {error}"))?;
    if status.code() == Some(MISSING) {
        return Ok(Err(Outcome::Skipped("the .NET clients cannot be installed here; the reason is above")));
    }
    if !status.success() {
        return Err(format!("conformance/clients/dotnet/install.py failed: {status}"));
    }
    Ok(Ok(place))
}

pub fn runner(place: &Path) -> Command {
    let mut python = command("python3");
    python.args(["-B", "conformance/clients/dotnet/run.py", "--place"]).arg(place);
    python
}
