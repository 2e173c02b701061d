//! The Blob service over the wire, beside the emulator and beside bare servers: `bench/`.
//!
//! `cargo xtask bench blob -- quick` takes some minutes; without the word, a quarter of an hour. Other arguments
//! are those of `lazuli-bench blob`.

use std::path::PathBuf;

use crate::paths;
use crate::shell::{self, Chore, cargo, command, works};

/// The last that runs on Node 20.
const AZURITE: &str = "azurite@3.35.0";
const QUICK: [&str; 4] = ["--seconds=1", "--list=20000", "--delete=4000", "--growth=200000"];

pub fn run(arguments: &[&str]) -> Chore {
    // One call: two would build the dependencies twice, with the features of each.
    shell::run(cargo().args(["build", "--release", "--package", "lazuli", "--package", "lazuli-bench"]))?;
    let release = paths::target().join("release");
    let mut bench = command(release.join("lazuli-bench"));
    bench.arg("blob").arg("--lazuli").arg(release.join("lazuli"));
    bench.arg("--directory").arg(paths::target().join("bench"));
    if let Some(azurite) = azurite() {
        bench.arg("--azurite").arg(azurite);
    }
    for argument in arguments {
        match *argument {
            "quick" => bench.args(QUICK),
            other => bench.arg(other),
        };
    }
    shell::run(&mut bench)
}

/// Installed below the target directory the first time; the benchmark goes on without it, and says so.
fn azurite() -> Option<PathBuf> {
    let directory = paths::target().join("azurite");
    let program = directory.join("node_modules/.bin/azurite-blob");
    if !program.is_file() && works(command("npm").arg("--version")) {
        let mut install = command("npm");
        install.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&directory).arg(AZURITE);
        if let Err(reason) = shell::run(&mut install) {
            eprintln!("xtask: no emulator to compare with: {reason}");
        }
    }
    program.is_file().then_some(program)
}
