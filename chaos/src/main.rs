//! The real server under fire: killed, starved, lied to, and its answers judged. `cargo xtask test chaos` runs the short
//! form; `lazuli-chaos --server PATH --long [CASE...]` the long one. Each case stands alone.

mod abuse;
mod arena;
mod blob;
mod blow;
mod case;
mod cluster;
mod delivery;
mod events;
mod history;
mod kill;
mod lease;
mod options;
mod queue;
mod random;
mod sas;
mod server;
mod several;
mod table;
mod transfer;
mod wire;

use std::process::ExitCode;
use std::time::Instant;

use options::{Options, Wish};

/// Why a case failed, or why something that it needs did not work; for a person.
pub type Trial<T = ()> = Result<T, String>;

/// How a case that did not fail ended.
pub enum Outcome {
    /// What was found, in a few words.
    Passed(String),
    /// What it needs cannot be had here.
    Skipped(&'static str),
}

impl From<String> for Outcome {
    fn from(found: String) -> Self {
        Self::Passed(found)
    }
}

fn main() -> ExitCode {
    let options = match options::read(std::env::args().skip(1)) {
        Ok(Wish::Run(options)) => options,
        Ok(Wish::List) => {
            print!("{}", case::list());
            return ExitCode::SUCCESS;
        }
        Ok(Wish::Skip(why)) => {
            println!("skipped: {why}");
            return ExitCode::SUCCESS;
        }
        Err(reason) => {
            eprintln!("{reason}\n{}\n{}", options::USAGE, case::list());
            return ExitCode::from(2);
        }
    };
    server::allow_many_descriptors();
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run(options)),
        Err(error) => {
            eprintln!("no runtime: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> ExitCode {
    println!("seed {} (--seed replays the choices, not the timing)", options.seed);
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for case in case::CASES.iter().filter(|case| options.wants(case)) {
        let started = Instant::now();
        let outcome = case.run(&options).await;
        let seconds = started.elapsed().as_secs_f64();
        match outcome {
            Ok(Outcome::Passed(remark)) => {
                passed += 1;
                println!("ok     {:<16} {seconds:>6.1} s  {remark}", case.name);
            }
            Ok(Outcome::Skipped(why)) => {
                skipped += 1;
                println!("skipped {:<15} {seconds:>6.1} s  {why}", case.name);
            }
            Err(reason) => {
                failed += 1;
                println!("FAILED {:<16} {seconds:>6.1} s  {reason}", case.name);
            }
        }
    }
    let skips = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    println!("{passed} passed, {failed} failed{skips}");
    if failed == 0 && passed + skipped > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
