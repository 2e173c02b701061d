//! conformance/clients/js, run by node's own test runner. Packages are installed below the target directory.

use std::fs;
use std::path::{Path, PathBuf};

use super::Outcome;
use crate::paths;
use crate::server::Server;
use crate::shell::{Chore, command, run as execute};

pub fn run() -> Chore<Outcome> {
    let server = Server::start("js")?;
    against(&server.environment())
}

/// With these variables.
pub fn against(environment: &[(&'static str, String)]) -> Chore<Outcome> {
    let tests = paths::root().join("conformance/clients/js");
    if !tests.join("package.json").is_file() {
        return Ok(Outcome::Skipped("conformance/clients/js is not written yet"));
    }
    let place = install(&tests)?;
    let mut node = command("node");
    // One file after the other: they share a server, and some move its clock.
    node.args(["--test", "--test-concurrency=1", "--test-reporter=spec"])
        .args(test_files(&place)?)
        .current_dir(&place)
        .envs(environment.iter().map(|(name, value)| (name, value)));
    execute(&mut node)?;
    Ok(Outcome::Passed)
}

/// Packages are found upwards from the file that asks for them, so the tests are copied beside the packages.
fn install(tests: &Path) -> Chore<PathBuf> {
    let place = paths::target().join("node");
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let wanted = read(&tests.join("package.json"))?;
    // Written after an installation that ended well: one that was cut short is done again.
    let stamp = place.join("installed.json");
    let fresh = read(&stamp).is_ok_and(|installed| installed == wanted);
    for old in test_files(&place)? {
        let _ = fs::remove_file(place.join(old));
    }
    for entry in fs::read_dir(tests).map_err(|error| error.to_string())?.filter_map(Result::ok) {
        if entry.path().is_file() {
            fs::copy(entry.path(), place.join(entry.file_name())).map_err(|error| error.to_string())?;
        }
    }
    if !fresh {
        let mut npm = command("npm");
        execute(npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&place))
            .map_err(|reason| {
                format!("{reason}\nthe clients are installed once, from the registry npm is told")
            })?;
        fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    }
    Ok(place)
}

fn test_files(place: &Path) -> Chore<Vec<String>> {
    let entries = fs::read_dir(place).map_err(|error| format!("{}: {error}", place.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut tests: Vec<String> =
        names.filter(|name| name.ends_with(".test.mjs") || name.ends_with(".test.js")).collect();
    tests.sort();
    Ok(tests)
}

fn read(path: &Path) -> Chore<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
