//! libFuzzer over the targets of `fuzz/`, for so many seconds each. Needs cargo-fuzz; coverage is asked of the compiler
//! with flags that stable refuses, so nightly is used where there is one, and otherwise stable is told to take them.

use std::fs;
use std::process::Command;

use crate::paths;
use crate::shell::{Chore, command, run as execute, works};

const SECONDS: u32 = 60;

/// `[SECONDS] [TARGET...]`
pub fn run(words: &[&str]) -> Chore {
    let (seconds, names) = match words.split_first() {
        Some((first, rest)) if first.parse::<u32>().is_ok() => (first.parse().unwrap_or(SECONDS), rest),
        _ => (SECONDS, words),
    };
    if !works(cargo_fuzz().arg("--version")) {
        return Err("install it first: cargo install cargo-fuzz --locked".to_owned());
    }
    let known = targets()?;
    if let Some(unknown) = names.iter().find(|name| !known.iter().any(|known| known == **name)) {
        return Err(format!("no target `{unknown}`; there are: {}", known.join(", ")));
    }
    let chosen = known.iter().filter(|name| names.is_empty() || names.contains(&name.as_str()));
    let mut failed = Vec::new();
    for name in chosen {
        if let Err(reason) = one(name, seconds) {
            eprintln!("{reason}");
            failed.push(name.as_str());
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("found something: {}", failed.join(", "))) }
}

fn cargo_fuzz() -> Command {
    let mut fuzz = command("cargo");
    if works(command("cargo").args(["+nightly", "--version"])) {
        fuzz.arg("+nightly");
    } else {
        fuzz.env("RUSTC_BOOTSTRAP", "1");
    }
    fuzz.arg("fuzz");
    fuzz
}

fn one(name: &str, seconds: u32) -> Chore {
    // What is found goes to the first directory; the seeds are only read.
    let found = paths::root().join("fuzz/corpus").join(name);
    fs::create_dir_all(&found).map_err(|error| format!("{}: {error}", found.display()))?;
    let mut fuzz = cargo_fuzz();
    fuzz.args(["run", "--sanitizer", "none", "--target-dir"]).arg(paths::target().join("fuzz"));
    fuzz.arg(name).arg(found);
    fuzz.arg(paths::root().join("fuzz/seeds").join(name));
    if name == "request" {
        fuzz.arg(paths::root().join("crates/rest/tests/it/golden/conversations"));
    }
    // An input of 8 kB takes neither seconds nor a hundred megabytes at once.
    let limits = ["-max_len=8192", "-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=128"];
    execute(fuzz.args(["--", &format!("-max_total_time={seconds}")]).args(limits))
}

fn targets() -> Chore<Vec<String>> {
    let directory = paths::root().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}
