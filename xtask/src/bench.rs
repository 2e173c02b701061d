//! Benchmarks, by name. Numbers mean something only on a quiet machine.

use crate::shell::{self, Chore, cargo};

/// Name and what runs it.
const BENCHES: [(&str, &[&str]); 1] =
    [("engine", &["run", "--release", "--package", "lazuli-engine", "--example", "engine_bench"])];

fn one(name: &str, arguments: &[&str]) -> Chore {
    let Some((_, command)) = BENCHES.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
        return Err(format!("no benchmark `{name}`; there are: {}", names.join(", ")));
    };
    shell::run(cargo().args(*command).arg("--").args(arguments))
}

pub fn run(words: &[&str]) -> Chore {
    let (names, arguments) = match words.iter().position(|word| *word == "--") {
        Some(at) => (words.get(..at).unwrap_or_default(), words.get(at + 1..).unwrap_or_default()),
        None => (words, [].as_slice()),
    };
    match names {
        [] => BENCHES.iter().try_for_each(|(name, _)| one(name, arguments)),
        names => names.iter().try_for_each(|name| one(name, arguments)),
    }
}
