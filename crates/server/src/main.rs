//! The binary: arguments to a running server. What it glues are libraries; nothing here knows an operation.

mod admin;
mod args;
mod assemble;
mod config;
mod connection_string;
mod create_at_start;
mod descriptors;
mod exit;
mod log;
mod metrics;
mod moving;
mod net;
mod run;
mod secret;
mod signals;
mod smb_listener;
mod startup_warnings;
mod storage_listener;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command, ServeArgs, UpgradeStep};
use config::{Environment, resolve};

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
        Some(Command::ConnectionString(asked)) => {
            print_connection_string(&merge(asked.serve, cli.serve), asked.account.as_deref())
        }
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "lazuli", &mut text);
            print(&String::from_utf8_lossy(&text))
        }
        Some(Command::Move(asked)) => moving::move_all(&asked).unwrap_or_else(|error| refuse(&*error)),
        Some(Command::Upgrade { step: UpgradeStep::Finish(nearer) }) => {
            let args = merge(*nearer, cli.serve);
            moving::finish_upgrade(&args).unwrap_or_else(|error| refuse(&*error))
        }
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
    run::run(&args).unwrap_or_else(|error| refuse(&*error))
}

fn print_connection_string(args: &ServeArgs, account: Option<&str>) -> ExitCode {
    let config = match resolve(args, &Environment::read()) {
        Ok(config) => config,
        Err(error) => return refuse(&error),
    };
    match connection_string::printed(&config, account) {
        Ok(text) => print(&format!("{text}\n")),
        Err(reason) => refuse(&*Box::<dyn Error + Send + Sync>::from(reason)),
    }
}

fn refuse(reason: &(dyn Error + Send + Sync + 'static)) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "lazuli: {reason}");
    exit::not_started(reason)
}

/// A reader that leaves early is no error of ours.
fn print(text: &str) -> ExitCode {
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
