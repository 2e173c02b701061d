//! How fast Lazuli is, beside the emulator and beside the limits of the machine.
//!
//! Every server runs as a process of its own on loopback; one client thread drives all of them over keep-alive
//! connections with requests that were signed before the clock started. For each workload the servers are
//! measured one right after the other, so that a ratio compares two neighbours in time.

mod bare;
mod bars;
mod cluster;
mod load;
mod meter;
mod options;
mod report;
mod request;
mod servers;
mod wire;
mod workload;

use std::process::ExitCode;

use clap::Parser;
use tokio::runtime::Runtime;

use load::Measured;
use options::{Command, Options, Run};
use report::Report;
use servers::{Server, Service};
use workload::{Scene, Workload};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// What a benchmark could not do; for a person.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    let done = match Options::parse().command {
        Command::Blob(run) => measure(Service::Blob, &run),
        Command::Queue(run) => measure(Service::Queue, &run),
        Command::Table(run) => measure(Service::Table, &run),
        Command::File(run) => measure(Service::File, &run),
        Command::Cluster(run) => cluster::measure(&run),
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
fn client() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn measure(service: Service, run: &Run) -> Outcome {
    let client = client()?;
    let wanted = Workload::all(service, run).into_iter().filter(|workload| run.wants(&workload.name()));
    let wanted: Vec<Workload> = wanted.collect();
    if !wanted.is_empty() {
        print!("{}", compare(service, run, &wanted, &client)?);
    }
    if run.growth > 0 && run.wants("growth") && matches!(service, Service::Blob | Service::Queue) {
        // On a server of its own: what the workloads left behind must not count.
        let server = Server::lazuli(run, service)?;
        client.block_on(server.prepare(service))?;
        print!("{}", client.block_on(workload::growth(service, &server, run))?);
    }
    Ok(())
}

fn compare(service: Service, run: &Run, wanted: &[Workload], client: &Runtime) -> Outcome<Report> {
    let servers = servers::start(run, service)?;
    for server in &servers {
        client.block_on(server.prepare(service))?;
    }
    let mut report = Report::new(service, run);
    for workload in wanted {
        let turns = workload.turns(run);
        let turn = &Run { seconds: run.seconds / turns as f64, ..run.clone() };
        let suited: Vec<&Server> = servers.iter().filter(|server| workload.suits(server.kind())).collect();
        let mut totals: Vec<Option<Measured>> = suited.iter().map(|_| None).collect();
        for _ in 0..turns {
            for (server, total) in suited.iter().zip(&mut totals) {
                let scene = Scene { server, at: server.address(), all: &servers, run: turn };
                let measured = undisturbed(*workload, &scene, client)
                    .map_err(|error| format!("{} on {}: {error}", workload.name(), server.kind()))?;
                *total = Some(match total.take() {
                    Some(before) => before.and(measured),
                    None => measured,
                });
            }
        }
        for (server, total) in suited.iter().zip(totals) {
            report.add(workload, server.kind(), total.ok_or("no turn")?);
        }
    }
    Ok(report)
}

/// The bars are meant for a quiet machine. A turn in which the host took the processors away is repeated, whichever
/// server's it is, and the least disturbed counts.
fn undisturbed(workload: Workload, scene: &Scene<'_>, client: &Runtime) -> Outcome<Measured> {
    /// Cores.
    const STOLEN: f64 = 0.02;
    const TURNS: usize = 5;
    let mut best = client.block_on(workload.run(scene))?;
    for _ in 1..TURNS {
        if best.cost.stolen <= STOLEN || !workload.is_repeatable() {
            break;
        }
        let again = client.block_on(workload.run(scene))?;
        if again.cost.stolen < best.cost.stolen {
            best = again;
        }
    }
    Ok(best)
}
