//! House rules, with what to do instead.

use std::fs;
use std::path::{Path, PathBuf};

use super::Outcome;
use crate::paths;
use crate::shell::Chore;

/// Nobody holds a longer file in mind.
const MOST_LINES: usize = 700;
const SOURCES: [&str; 9] =
    ["crates", "bench", "chaos", "fuzz", "xtask", "conformance", "docs", ".ci", "spec"];
/// Text that belongs to somebody's machine, put together so that this file does not contain it.
const MACHINE: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// What a signer, a client's constants and the start of a server cannot do without, and where it may stand. Test programs
/// have it from `lazuli-testing`. The server has its own: a signer that shared the server's code would check nothing.
const WRITTEN_ONCE: [(&str, &[&str]); 3] = [
    (concat!("HMAC_", "SHA256"), &["crates/testing", "crates/rest/src/auth", "crates/smb/src/crypto"]),
    (concat!("Eby8vdM", "02xNOcqFlqUwJPLlmEtlCDXJ1"), &["crates/testing", "crates/rest/src/auth"]),
    (concat!("\"smb\", ", "\"admin\""), &["crates/testing"]),
];

pub fn run() -> Chore<Outcome> {
    let mut faults = Vec::new();
    for source in SOURCES {
        let directory = paths::root().join(source);
        if directory.is_dir() {
            walk(&directory, &mut faults)?;
        }
    }
    if faults.is_empty() { Ok(Outcome::Passed) } else { Err(faults.join("\n")) }
}

fn walk(directory: &Path, faults: &mut Vec<String>) -> Chore {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)
        .map_err(failed)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            if !["target", "node_modules", "__pycache__"].contains(&name.as_str()) {
                walk(&path, faults)?;
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            judge(&path, &text, faults);
        }
    }
    Ok(())
}

fn judge(path: &Path, text: &str, faults: &mut Vec<String>) {
    let shown = path.strip_prefix(paths::root()).unwrap_or(path).display();
    let lines = text.lines().count();
    let is_rust = path.extension().is_some_and(|extension| extension == "rs");
    if is_rust && lines > MOST_LINES {
        faults.push(format!("{shown}: {lines} lines; split it by idea, at most {MOST_LINES}"));
    }
    // The wire sees what operations answer, not what is stored.
    let is_wire = ["crates/rest", "crates/smb"].iter().any(|wire| path.starts_with(paths::root().join(wire)));
    for (number, line) in text.lines().enumerate() {
        if is_wire && (line.contains("service::record") || line.contains("store::record")) {
            faults.push(format!("{shown}:{}: a record; let the operation answer with it", number + 1));
        }
        let elsewhere =
            |places: &[&str]| !places.iter().any(|place| path.starts_with(paths::root().join(place)));
        if is_rust && WRITTEN_ONCE.iter().any(|(text, places)| line.contains(text) && elsewhere(places)) {
            faults.push(format!("{shown}:{}: use what lazuli-testing has for this", number + 1));
        }
        if MACHINE.iter().any(|machine| line.contains(machine)) {
            faults.push(format!("{shown}:{}: a path of somebody's machine; make it relative", number + 1));
        }
    }
}
