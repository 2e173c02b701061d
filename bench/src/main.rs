//! How fast Lazuli is, beside the emulator and beside the limits of the machine.
//!
//! Every server runs as a process of its own on loopback; one client thread drives all of them over keep-alive
//! connections with requests that were signed before the clock started. For each workload the servers are
//! measured one right after the other, so that a ratio compares two neighbours in time.

mod bare;
mod bars;
mod growth;
mod load;
mod meter;
mod options;
mod report;
mod request;
mod servers;
mod sign;
mod wire;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use options::{Command, Options, Run};
use report::Report;
use servers::Server;
use workload::{Scene, Workload};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What a benchmark could not do; for a person.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    let done = match Options::parse().command {
        Command::Blob(run) => blob(&run),
        Command::Growth(run) => growth_only(&run),
        Command::ServeBare { kind, directory } => bare::serve(kind, &directory),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lazuli-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One thread: the client must leave the second core to the server.
fn client() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn blob(run: &Run) -> Outcome {
    let client = client()?;
    let servers = servers::start(run)?;
    for server in &servers {
        client.block_on(server.prepare())?;
    }
    let mut report = Report::new(run);
    for workload in Workload::all(run) {
        if !run.wants(&workload.name()) {
            continue;
        }
        for server in servers.iter().filter(|server| workload.suits(server.kind())) {
            let scene = Scene { server, all: &servers, run };
            let measured = client
                .block_on(workload.run(&scene))
                .map_err(|error| format!("{} on {}: {error}", workload.name(), server.kind()))?;
            report.add(&workload, server.kind(), measured);
        }
    }
    drop(servers);
    print!("{report}");
    if run.growth > 0 && run.wants("growth") {
        print!("{}", grow(run, &client)?);
    }
    Ok(())
}

fn growth_only(run: &Run) -> Outcome {
    print!("{}", grow(run, &client()?)?);
    Ok(())
}

/// On a server of its own: what the workloads left behind must not count.
fn grow(run: &Run, client: &tokio::runtime::Runtime) -> Outcome<growth::Growth> {
    let server = Server::lazuli(run)?;
    client.block_on(server.prepare())?;
    client.block_on(growth::measure(&server, run))
}
