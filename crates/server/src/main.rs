//! The binary: arguments to a running server. What it glues are libraries; nothing here knows an operation.

mod admin;
mod args;
mod config;
mod descriptors;
mod log;
mod metrics;
mod net;
mod run;
mod secret;
mod seed;
mod signals;
mod storage;
mod wiring;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command, ServeArgs};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Read by the allocator at its start: pages that nobody uses go back to the system within a second, not ten.
#[allow(unsafe_code, reason = "a symbol that jemalloc looks for by its name")]
#[unsafe(export_name = "_rjem_malloc_conf")]
static ALLOCATOR_SETTINGS: &[u8; 20] = b"dirty_decay_ms:1000\0";

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.version {
        return print(concat!("lazuli ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    match cli.command {
        None => serve(cli.serve),
        Some(Command::Serve(nearer)) => serve(merge(*nearer, cli.serve)),
        Some(Command::Operations) => {
            print(&lazuli_model::operation::operations_markdown(lazuli_rest::is_built))
        }
    }
}

/// Flags before and after `serve` are the same flags; those after it win.
fn merge(nearer: ServeArgs, farther: ServeArgs) -> ServeArgs {
    ServeArgs {
        config: nearer.config.or(farther.config),
        settings: nearer.settings.or(farther.settings),
        rehearse_servers: nearer.rehearse_servers.or(farther.rehearse_servers),
    }
}

fn serve(args: ServeArgs) -> ExitCode {
    match run::run(&args) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "lazuli: {error}");
            ExitCode::from(2)
        }
    }
}

/// A reader that leaves early is no error of ours.
fn print(text: &str) -> ExitCode {
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
