//! Every target over its seeds and over a fixed number of mutations of them, on stable. `LAZULI_FUZZ_ROUNDS` multiplies
//! the number, `LAZULI_FUZZ_SEED` starts elsewhere.

// A failed expectation is a failed test.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use lazuli_fuzz_targets::mutate::Mutator;
use lazuli_fuzz_targets::{batch, credentials, recovery, request, tags, target};

fn read_all(directory: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn drive(name: &str) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = read_all(&here.join("../seeds").join(name));
    if name == "request" {
        // Conversations that are known to reach the operations.
        seeds.extend(read_all(&here.join("../../crates/rest/tests/it/golden/conversations")));
    }
    assert!(!seeds.is_empty(), "{name} has no seed");
    let target = target(name).unwrap();
    let judge = |data: &[u8], what: &str| {
        if catch_unwind(AssertUnwindSafe(|| (target.run)(data))).is_err() {
            panic!("{name}, {what}:\n{}", data.escape_ascii());
        }
    };
    for (at, seed) in seeds.iter().enumerate() {
        judge(seed, &format!("seed {at}"));
    }
    let first = number("LAZULI_FUZZ_SEED", 0);
    for round in first..first + u64::from(target.rounds) * number("LAZULI_FUZZ_ROUNDS", 1) {
        judge(&Mutator::new(round).input(&seeds), &format!("round {round}"));
    }
}

macro_rules! drive {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            drive(stringify!($name));
        })*

        #[test]
        fn every_target_is_driven() {
            let driven = [$(stringify!($name)),*];
            let known: Vec<&str> = lazuli_fuzz_targets::TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(driven.as_slice(), known);
        }
    };
}

drive!(
    address,
    batch,
    changeset,
    credentials,
    document,
    filter,
    header,
    message,
    permission,
    query,
    record,
    recovery,
    request,
    smb_logon,
    smb_message,
    smb_pipe,
    structured,
    tags
);

fn seed(target: &str, name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(target).join(name)).unwrap()
}

/// A request that is refused at the door tests the door only.
#[test]
fn seeds_get_through() {
    for name in ["blocks", "queues", "tables"] {
        let statuses = request::statuses(&seed("request", name));
        assert!(statuses.len() >= 3 && statuses.iter().all(|status| *status < 300), "{name}: {statuses:?}");
    }
    for (name, parts) in [("delete", 2), ("tier", 1)] {
        let answered = batch::parts_answered(&seed("batch", name)).map(|statuses| statuses.len());
        assert_eq!(answered, Some(parts), "{name}");
    }
    for (name, predicates) in [("equal", 2), ("range", 2), ("container", 1)] {
        assert_eq!(tags::taken(&seed("tags", name)), (2, predicates), "{name}");
    }
    for (name, least) in
        [("put", 6), ("repeated", 6), ("account_sas", 1), ("service_sas", 1), ("table_sas", 1)]
    {
        let accepted = credentials::accepted(&seed("credentials", name));
        assert!(accepted >= least, "{name}: {accepted} accepted");
    }
}

/// Damage that is never noticed, or always, would show nothing.
#[test]
fn some_damage_is_refused_and_some_is_survived() {
    let names = (0..8).flat_map(|number| [format!("flip_{number}"), format!("cut_{number}")]);
    let opened = names.filter(|name| recovery::opens(&seed("recovery", name))).count();
    assert!((1..16).contains(&opened), "{opened} of 16 opened");
}

#[test]
fn the_mutator_writes_what_decoders_look_for() {
    let seeds = [b"GET / HTTP".to_vec()];
    let found =
        (0..2_000).any(|round| Mutator::new(round).input(&seeds).windows(3).any(|three| three == b"%2F"));
    assert!(found);
    assert_eq!(
        Mutator::new(7).input(&seeds),
        Mutator::new(7).input(&seeds),
        "a round is found again by its number"
    );
}
