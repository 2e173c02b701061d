//! Recorded conversations of the official clients with the real service, sent again. What differs must be on a
//! list of known differences, which may only get shorter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::Outcome;
use crate::paths;
use crate::server::Server;
use crate::shell::{Chore, command, run as execute};

/// Services whose recordings are replayed; each has a list `conformance/replay/SERVICE.txt`.
const SERVICES: [&str; 1] = ["blob"];

pub fn run() -> Chore<Outcome> {
    let Some(replay) = paths::replay() else { return Ok(Outcome::Skipped("../shared/replay is not here")) };
    let mut wrong = Vec::new();
    for service in SERVICES {
        if let Err(reason) = one(&replay, service) {
            wrong.push(reason);
        }
    }
    if wrong.is_empty() { Ok(Outcome::Passed) } else { Err(wrong.join("\n")) }
}

fn one(replay: &Path, service: &str) -> Chore {
    let list = paths::root().join(format!("conformance/replay/{service}.txt"));
    let known = known(&fs::read_to_string(&list).unwrap_or_default())?;
    let server = Server::start(&format!("replay-{service}"))?;
    let fails = paths::target().join(format!("replay-{service}-fails.txt"));
    let report = paths::target().join(format!("replay-{service}.json"));
    let _ = fs::remove_file(&fails);
    let mut python = command("python3");
    python.arg(replay.join("replay.py")).arg("--data").args(recordings(replay, service)?);
    python.args(["--connection-string", &server.connection_string(), "--clock-url", &server.clock_url()]);
    python.arg("--report").arg(&report).arg("--fail-list").arg(&fails);
    // It fails when any status differs; here the list of known differences decides.
    let _ = execute(&mut python);
    let found = fs::read_to_string(&fails).map_err(|_| format!("the replay of {service} did not finish"))?;
    let found: BTreeMap<&str, &str> = found.lines().filter_map(|line| line.split_once(" #")).collect();
    compare(service, &known, &found)
}

fn compare(service: &str, known: &BTreeSet<String>, found: &BTreeMap<&str, &str>) -> Chore {
    let mut faults = Vec::new();
    for (name, difference) in found {
        if !known.contains(*name) {
            faults.push(format!("new difference: {name} #{difference}"));
        }
    }
    for name in known {
        if !found.contains_key(name.as_str()) {
            faults.push(format!("no longer differs, take it off conformance/replay/{service}.txt: {name}"));
        }
    }
    eprintln!("{service}: {} tests differ, {} known", found.len(), known.len());
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Names of tests, one a line, below a line `# reason` that holds for all up to the next.
fn known(text: &str) -> Chore<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut reason = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_prefix('#') {
            Some(text) => reason = Some(text),
            None if reason.is_none() => return Err(format!("a known difference without a reason: {line}")),
            None => {
                names.insert(line.to_owned());
            }
        }
    }
    Ok(names)
}

fn recordings(replay: &Path, service: &str) -> Chore<Vec<std::path::PathBuf>> {
    let directory = replay.join("recordings");
    let entries = fs::read_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{service}-")))
        })
        .collect();
    files.sort();
    Ok(files)
}
