//! Chores of the repository: `cargo xtask test`, `cargo xtask ci`, `cargo xtask bench`.

mod bench;
mod ci;
mod cluster;
mod debian;
mod fuzz;
mod paths;
mod server;
mod shell;
mod steps;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test [STEP...]    everything that must pass, or only the steps named
cargo xtask ci                fmt check, clippy with warnings denied, then test
cargo xtask bench [NAME] [-- ARGS]    engine, start, blob, queue, table, file, smb, cluster; `-- quick` for a first look
cargo xtask fuzz [SECONDS] [TARGET...]
cargo xtask chaos [ARGS]      the server under fire; --long for hours of it, --cluster for several servers, --list for the cases
cargo xtask cluster [PART...] three servers over PostgreSQL and SeaweedFS: engine, service, python, js, dotnet, replay, chaos, up
cargo xtask steps             the steps of test
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test", steps @ ..] => steps::run(steps),
        ["ci"] => ci::run(),
        ["bench", rest @ ..] => bench::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["chaos", rest @ ..] => steps::chaos::with(rest),
        ["cluster", rest @ ..] => cluster::run(rest),
        ["steps"] => {
            print!("{}", steps::list());
            Ok(())
        }
        _ => {
            eprint!("{USAGE}\n{}", steps::list());
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}
