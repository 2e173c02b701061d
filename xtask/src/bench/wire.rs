//! A service over the wire, beside the emulator and, for blobs, beside bare servers: `bench/`.
//!
//! `cargo xtask bench blob -- quick` takes some minutes; without the word, a quarter of an hour. Other arguments
//! are those of `lazuli-bench blob`. The same holds for `queue` and `table`, which take some minutes anyway.

use super::{azurite, nginx};
use crate::paths;
use crate::shell::{self, Chore, cargo_dist, command};

const QUICK: [&str; 6] =
    ["--seconds=1", "--list=20000", "--delete=4000", "--depth=4000", "--partition=20000", "--growth=200000"];

pub fn blob(arguments: &[&str]) -> Chore {
    run("blob", arguments)
}

pub fn queue(arguments: &[&str]) -> Chore {
    run("queue", arguments)
}

pub fn table(arguments: &[&str]) -> Chore {
    run("table", arguments)
}

pub fn file(arguments: &[&str]) -> Chore {
    run("file", arguments)
}

/// Servers over PostgreSQL, beside the database alone.
pub fn cluster(arguments: &[&str]) -> Chore {
    if lazuli_testing::postgres::available().is_none() {
        return Ok(());
    }
    shell::run(cargo_dist("build").args(["--package", "lazuli", "--package", "lazuli-bench"]))?;
    let mut bench = command(paths::dist().join("lazuli-bench"));
    shell::run(bench.arg("cluster").arg("--lazuli").arg(paths::dist().join("lazuli")).args(arguments))
}

fn run(service: &str, arguments: &[&str]) -> Chore {
    // One call: two would build the dependencies twice, with the features of each.
    shell::run(cargo_dist("build").args(["--package", "lazuli", "--package", "lazuli-bench"]))?;
    let dist = paths::dist();
    let mut bench = command(dist.join("lazuli-bench"));
    bench.arg(service).arg("--lazuli").arg(dist.join("lazuli"));
    bench.arg("--directory").arg(paths::target().join("bench"));
    // Two builds are compared with each other alone.
    if !arguments.iter().any(|argument| argument.starts_with("--against"))
        && let Some(azurite) = azurite::installed()
    {
        bench.arg("--azurite").arg(azurite);
    }
    if service == "blob"
        && !arguments.contains(&"--no-limits")
        && let Some(nginx) = nginx::installed()
    {
        bench.arg("--nginx").arg(nginx);
    }
    for argument in arguments {
        match *argument {
            "quick" => bench.args(QUICK),
            other => bench.arg(other),
        };
    }
    shell::run(&mut bench)
}
