//! `cargo xtask cluster`: PostgreSQL, SeaweedFS and three servers behind a balancer, and what is run against them.

mod balancer;
mod servers;

use std::path::Path;

use crate::shell::{Chore, cargo, command, output, run as execute, works};
use crate::steps::{Outcome, dotnet, js, python};
use crate::{debian, paths, server, steps};
use servers::Cluster;

const USAGE: &str = "\
cargo xtask cluster [PART...]    without a part: all of them but `up`
The step `cluster` of the tests: python, js, dotnet, and the shorter cases of chaos.
  engine      the contract of the engine, on PostgreSQL: the step `rust` of the tests runs it as well
  service     the tests of several servers in crates/service, on the PostgreSQL engine
  python      the official Python clients, through a balancer
  js          the official JavaScript clients, through a balancer
  dotnet      the official .NET clients, through a balancer
  replay      recorded answers of the real service, through a balancer
  chaos       kills, histories, transfers, deliveries and faults (cargo xtask chaos --cluster)
  up          only starts everything, tells where it is, and waits for the end of its input
";

/// Tests that hold tokio's clock, by which no connection is made, and one that makes tens of thousands of requests one after another.
const LEFT_OUT: &[&str] =
    &["schedule", "a_client_that_does_not_answer", "sweeping_commits_stay_under_the_caps"];

/// A service, a directory of recordings, and the kind of account that they were made on, by its name in conformance/replay/accounts.py. By hand:
/// that file says which recordings each account is for, and not in which directories there are any. What is added there is added here.
const RECORDED: [[&str; 3]; 13] = [
    ["blob", "recordings-older", ""],
    ["blob", "recordings-older", "-softdelete"],
    ["blob", "recordings", ""],
    ["blob", "recordings", "-versioning"],
    ["blob", "recordings", "-scopes"],
    ["blob", "recordings", "-softdelete"],
    ["queue", "recordings-older", ""],
    ["queue", "recordings", ""],
    ["table", "recordings-older", ""],
    ["table", "recordings", ""],
    ["file", "recordings-older", ""],
    ["file", "recordings", ""],
    ["file", "recordings", "-softdelete"],
];

/// The cases of chaos that the step of the tests has. Failover wants Patroni and etcd, and minutes: `cargo xtask chaos --cluster`.
const SHORT: &[&str] = &[
    "--cluster",
    "kill",
    "history",
    "page-history",
    "append-history",
    "table-history",
    "file-history",
    "transfer",
    "delivery",
    "cluster-cuts",
    "cluster-mid-commit",
    "cluster-bytes-down",
];

/// The step of `cargo xtask test`: what fits in a few minutes. The step `rust` has had the engine.
pub fn step() -> Chore<Outcome> {
    if !debian::postgres() {
        return Ok(Outcome::Skipped("PostgreSQL cannot be installed here"));
    }
    parts(&["python", "js", "dotnet"])?;
    steps::chaos::with(SHORT).map(|()| Outcome::Passed)
}

pub fn run(words: &[&str]) -> Chore {
    if !debian::postgres() {
        eprintln!("skipped: PostgreSQL cannot be installed here (apt-get install postgresql)");
        return Ok(());
    }
    match words {
        ["help" | "--help" | "-h", ..] => {
            print!("{USAGE}");
            Ok(())
        }
        [] => parts(&["engine", "service", "python", "js", "dotnet", "replay", "chaos"]),
        words => parts(words),
    }
}

fn parts(wanted: &[&str]) -> Chore {
    for part in wanted {
        eprintln!("\n== cluster: {part}");
        match *part {
            "engine" => engine()?,
            "service" => service()?,
            "python" => clients()?,
            "js" => skippable(javascript()?),
            "dotnet" => skippable(dotnet()?),
            "replay" => replay()?,
            "chaos" => steps::chaos::with(&["--cluster"])?,
            "up" => up()?,
            _ => return Err(format!("no part `{part}`\n{USAGE}")),
        }
    }
    Ok(())
}

fn skippable(outcome: Outcome) {
    if let Outcome::Skipped(why) = outcome {
        eprintln!("skipped: {why}");
    }
}

/// What every engine must do and what several must do together, in both dialects and with bytes as objects; and what only this one has.
fn engine() -> Chore {
    on_postgres("package(lazuli-engine) and test(/postgres|remote|settled|objects|several|tls/)")
}

fn service() -> Chore {
    let excluded: Vec<String> = LEFT_OUT.iter().map(|name| format!("test({name})")).collect();
    on_postgres(&format!("package(lazuli-service) and binary(several) and not ({})", excluded.join(" or ")))
}

fn on_postgres(filter: &str) -> Chore {
    if !works(cargo().args(["nextest", "--version"])) {
        return Err("cargo-nextest is needed to choose among the tests".into());
    }
    let mut tests = cargo();
    // As the step of the tests builds it: with one package alone, dependencies have other features and are built once more.
    tests.args(["nextest", "run", "--workspace", "--no-fail-fast", "-E", filter]);
    execute(tests.env("LAZULI_TEST_ENGINE", "postgres"))
}

fn clients() -> Chore {
    server::build()?;
    let cluster = Cluster::start("python", &[])?;
    python::against(&cluster.environment(), &[])
}

fn javascript() -> Chore<Outcome> {
    server::build()?;
    let cluster = Cluster::start("js", &[])?;
    js::against(&cluster.environment())
}

/// Twice, as without a cluster: with servers as they are, and with some that have what is switched on by a flag.
fn dotnet() -> Chore<Outcome> {
    let place = match dotnet::install()? {
        Ok(place) => place,
        Err(skipped) => return Ok(skipped),
    };
    server::build()?;
    let features = output(dotnet::runner(&place).arg("--flags"))?;
    let features: Vec<&str> = features.lines().collect();
    for (flags, words) in [(&[][..], &[][..]), (&features[..], &["--has-features"][..])] {
        let cluster = Cluster::start("dotnet", flags)?;
        let mut runner = dotnet::runner(&place);
        runner.args(["--connection-string", &cluster.connection_string()]);
        execute(runner.args(["--clock-url", &cluster.clock_url()]).args(words))?;
    }
    Ok(Outcome::Passed)
}

fn replay() -> Chore {
    let Some(recordings) = paths::replay() else {
        eprintln!("skipped: ../shared/replay is not here");
        return Ok(());
    };
    server::build()?;
    let failed: Vec<String> = RECORDED.iter().filter_map(|run| replay_one(run, &recordings).err()).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// On a cluster of its own, as the step of the tests has a server for each: recordings leave containers behind that others list.
fn replay_one([service, collection, account]: &[&str; 3], recordings: &Path) -> Chore {
    let runner = || {
        let mut python = command("python3");
        python.args(["-B", "conformance/replay/run.py", service, "--only", collection]);
        python.arg(format!("--account={account}"));
        python
    };
    let flags = output(runner().arg("--flags"))?;
    let cluster = Cluster::start("replay", &flags.lines().collect::<Vec<_>>())?;
    let mut python = runner();
    python.args(["--connection-string", &cluster.connection_string(), "--clock-url", &cluster.clock_url()]);
    python.arg("--replay").arg(recordings).arg("--out").arg(paths::target().join("replay-cluster"));
    execute(&mut python)
}

fn up() -> Chore {
    server::build()?;
    let cluster = Cluster::start("up", &[])?;
    for (name, value) in cluster.environment() {
        println!("{name}={value}");
    }
    println!("end of input ends it");
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    Ok(())
}
