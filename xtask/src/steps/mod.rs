//! The steps of `cargo xtask test`, in order: cheap ones first, so that a mistake shows soon.

pub mod chaos;
pub mod dotnet;
pub mod js;
pub mod python;
mod replay;
mod rust;
mod smb;
mod tidy;
mod tools;

use std::time::Instant;

use crate::shell::Chore;

pub enum Outcome {
    Passed,
    /// Not possible here, for this reason; never because something failed.
    Skipped(&'static str),
}

struct Step {
    name: &'static str,
    title: &'static str,
    run: fn() -> Chore<Outcome>,
}

const STEPS: &[Step] = &[
    Step { name: "tidy", title: "house rules of the sources", run: tidy::run },
    Step { name: "rust", title: "tests of the workspace", run: rust::run },
    Step { name: "python", title: "the official Python clients", run: python::run },
    Step { name: "js", title: "the official JavaScript clients", run: js::run },
    Step { name: "dotnet", title: "the official .NET clients, v12 and v11", run: dotnet::run },
    Step {
        name: "smb",
        title: "smbclient, impacket, smbprotocol, smbtorture and a kernel's mount",
        run: smb::run,
    },
    Step { name: "replay", title: "recorded answers of the real service", run: replay::run },
    Step { name: "chaos", title: "kills, histories, clocks, abuse and want", run: chaos::run },
    Step { name: "cluster", title: "several servers over PostgreSQL", run: crate::cluster::step },
    Step { name: "tools", title: "azcopy, rclone, deltalake and others", run: tools::run },
];

pub fn list() -> String {
    STEPS.iter().map(|step| format!("  {:<8} {}\n", step.name, step.title)).collect()
}

pub fn run(wanted: &[&str]) -> Chore {
    if let Some(unknown) = wanted.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        return Err(format!("no step `{unknown}`; there are\n{}", list()));
    }
    let chosen = STEPS.iter().filter(|step| wanted.is_empty() || wanted.contains(&step.name));
    let mut report = String::new();
    let mut failed = Vec::new();
    for step in chosen {
        eprintln!("\n== {}: {}", step.name, step.title);
        let started = Instant::now();
        let outcome = match (step.run)() {
            Ok(Outcome::Passed) => "passed".to_owned(),
            Ok(Outcome::Skipped(reason)) => format!("skipped: {reason}"),
            Err(reason) => {
                eprintln!("{reason}");
                failed.push(step.name);
                "FAILED".to_owned()
            }
        };
        report.push_str(&format!("{:<8} {:>6.1} s  {outcome}\n", step.name, started.elapsed().as_secs_f64()));
    }
    eprintln!("\n{report}");
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}
