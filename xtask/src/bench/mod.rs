//! Benchmarks, by name. Numbers mean something only on a quiet machine.

mod azurite;
mod nginx;
mod smb;
mod start;
mod wire;

use crate::shell::{self, Chore, cargo_dist};

struct Bench {
    name: &'static str,
    run: fn(&[&str]) -> Chore,
}

const BENCHES: &[Bench] = &[
    Bench { name: "engine", run: engine },
    Bench { name: "start", run: start::run },
    Bench { name: "blob", run: wire::blob },
    Bench { name: "queue", run: wire::queue },
    Bench { name: "table", run: wire::table },
    Bench { name: "file", run: wire::file },
    Bench { name: "cluster", run: wire::cluster },
    Bench { name: "smb", run: smb::run },
];

fn engine(arguments: &[&str]) -> Chore {
    let example = ["--package", "lazuli-engine", "--example", "engine_bench", "--"];
    shell::run(cargo_dist("run").args(example).args(arguments))
}

pub fn run(words: &[&str]) -> Chore {
    let (names, arguments) = match words.iter().position(|word| *word == "--") {
        Some(at) => (words.get(..at).unwrap_or_default(), words.get(at + 1..).unwrap_or_default()),
        None => (words, [].as_slice()),
    };
    if let Some(unknown) = names.iter().find(|name| !BENCHES.iter().any(|bench| bench.name == **name)) {
        let known: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        return Err(format!("no benchmark `{unknown}`; there are: {}", known.join(", ")));
    }
    let chosen = BENCHES.iter().filter(|bench| names.is_empty() || names.contains(&bench.name));
    chosen.into_iter().try_for_each(|bench| (bench.run)(arguments))
}
