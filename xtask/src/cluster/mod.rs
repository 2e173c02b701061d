//! `cargo xtask cluster`: PostgreSQL, SeaweedFS and three servers behind a balancer, and what is run against them.

mod balancer;
mod servers;

use crate::shell::{Chore, cargo, command, run as execute, works};
use crate::steps::{Outcome, python};
use crate::{paths, server, steps};
use servers::Cluster;

const USAGE: &str = "\
cargo xtask cluster [PART...]    short: python chaos; without a part: all of them
  service     the tests of several servers in crates/service, on the PostgreSQL engine
  python      the official Python clients, through a balancer
  replay      recorded answers of the real service, through a balancer
  chaos       kills, histories, transfers, deliveries and faults (cargo xtask chaos --cluster)
  up          only starts everything, tells where it is, and waits for the end of its input
";

/// Tests that make tens of thousands of requests one after another, look into the memory engine itself, or hold tokio's clock,
/// by which no connection is made.
const LONG: &[&str] = &[
    "a_list_that_",
    "a_long_block_list",
    "plan_sizes",
    "every_record_reads_its_own_length",
    "many_small_blocks",
    "schedule",
    "history",
    "model",
    "crowd",
    "a_client_that_does_not_answer",
    "many_snapshots_are_deleted_at_once",
];

/// The cases of chaos that the step of the tests has. Failover wants Patroni and etcd, and minutes: `cargo xtask chaos --cluster`.
const SHORT: &[&str] = &[
    "--cluster",
    "kill",
    "history",
    "table-history",
    "transfer",
    "delivery",
    "cluster-cuts",
    "cluster-bytes-down",
];

/// The step of `cargo xtask test`: what fits in a few minutes.
pub fn step() -> Chore<Outcome> {
    if lazuli_testing::postgres::available().is_none() {
        return Ok(Outcome::Skipped("PostgreSQL is not installed"));
    }
    parts(&["python"])?;
    steps::chaos::with(SHORT).map(|()| Outcome::Passed)
}

pub fn run(words: &[&str]) -> Chore {
    if lazuli_testing::postgres::available().is_none() {
        eprintln!("skipped: PostgreSQL is not installed (apt-get install postgresql)");
        return Ok(());
    }
    match words {
        [] => parts(&["service", "python", "replay", "chaos"]),
        words => parts(words),
    }
}

fn parts(wanted: &[&str]) -> Chore {
    for part in wanted {
        eprintln!("\n== cluster: {part}");
        match *part {
            "service" => service()?,
            "python" => clients()?,
            "replay" => replay()?,
            "chaos" => steps::chaos::with(&["--cluster"])?,
            "up" => up()?,
            _ => return Err(format!("no part `{part}`\n{USAGE}")),
        }
    }
    Ok(())
}

fn service() -> Chore {
    let excluded: Vec<String> = LONG.iter().map(|name| format!("test({name})")).collect();
    if !works(cargo().args(["nextest", "--version"])) {
        return Err("cargo-nextest is needed to leave the long ones out".into());
    }
    let filter = format!("not ({})", excluded.join(" | "));
    let mut tests = cargo();
    tests.args([
        "nextest",
        "run",
        "--package",
        "lazuli-service",
        "--test",
        "several",
        "--no-fail-fast",
        "-E",
        &filter,
    ]);
    execute(tests.env("LAZULI_TEST_ENGINE", "postgres"))
}

fn clients() -> Chore {
    server::build()?;
    let cluster = Cluster::start("python", &[])?;
    python::against(&cluster.environment(), &[])
}

fn replay() -> Chore {
    let Some(recordings) = paths::replay() else {
        eprintln!("skipped: ../shared/replay is not here");
        return Ok(());
    };
    server::build()?;
    let cluster = Cluster::start("replay", &["--oauth", "basic", "--bearerOverHttp"])?;
    let mut python = command("python3");
    python.args(["-B", "conformance/replay/run.py", "--connection-string", &cluster.connection_string()]);
    python.args(["--clock-url", &cluster.clock_url(), "--replay"]).arg(recordings);
    execute(python.arg("--out").arg(paths::target().join("replay-cluster")))
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
