//! `lazuli move` and `lazuli upgrade finish`: what is done to a store while no server, or no older one, works over it.

use std::io::Write;
use std::process::ExitCode;

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use lazuli_engine::Engine;
use lazuli_service::moving::{Moved, move_store};
use lazuli_service::{ServiceOptions, Services};

use crate::args::{MoveArgs, ServeArgs};
use crate::assemble::{self, open_storage};
use crate::config::{Environment, Storage, resolve, storage_at};
use crate::descriptors;

type Error = Box<dyn std::error::Error + Send + Sync>;

pub fn move_all(args: &MoveArgs) -> Result<ExitCode, Error> {
    let environment = Environment::read();
    let (from, to) = (storage_at(&args.from, &environment)?, storage_at(&args.to, &environment)?);
    if from == to {
        return Err("a store is not moved to where it is".into());
    }
    if let Storage::Directory(directory) = &from
        && !directory.is_dir()
    {
        return Err(format!("{}: there is no store", directory.display()).into());
    }
    on_a_runtime(async {
        // Half of what there is for each of the two.
        let share = descriptors::limit() / 2;
        let from = open_storage(&from, share).await?;
        let to = open_storage(&to, share).await?;
        let moved = with_a_bar(&from, &to).await;
        let closed = (from.close().await, to.close().await);
        let moved = moved?;
        closed.0?;
        closed.1?;
        say(&format!(
            "moved and compared: {} rows, {} chunks, {}. The store it came from is as it was.",
            HumanCount(moved.of),
            HumanCount(moved.chunks),
            HumanBytes(moved.bytes)
        ));
        Ok(ExitCode::SUCCESS)
    })
}

async fn with_a_bar(from: &Engine, to: &Engine) -> Result<Moved, Error> {
    let bar = ProgressBar::new(0);
    if let Ok(style) =
        ProgressStyle::with_template("{msg:<9} {wide_bar} {percent:>3} % of {human_len} rows, {prefix}")
    {
        bar.set_style(style);
    }
    let shown = bar.clone();
    let tell = move |moved: Moved| {
        let compares = moved.verified > 0;
        shown.set_message(if compares { "comparing" } else { "copying" });
        shown.set_length(moved.of);
        shown.set_position(if compares { moved.verified } else { moved.rows });
        shown.set_prefix(HumanBytes(moved.bytes).to_string());
    };
    let moved = move_store(from, to, &tell).await;
    bar.finish_and_clear();
    Ok(moved?)
}

pub fn finish_upgrade(args: &ServeArgs) -> Result<ExitCode, Error> {
    let config = resolve(args, &Environment::read())?;
    on_a_runtime(async {
        let engine = open_storage(&config.storage, descriptors::limit() / 2).await?;
        let members = assemble::members(&config, 1);
        let options = ServiceOptions { members, ..ServiceOptions::default() };
        let raised = Services::new(engine.clone(), options).raise_format().await;
        engine.close().await?;
        let (before, after) = raised.map_err(|fault| {
            fault.0.cause.map_or_else(|| "it failed".to_owned(), |cause| cause.to_string())
        })?;
        say(&match before == after {
            true => format!("the store is of format {after}, the newest that this version knows"),
            false => format!("the store was of format {before} and is of format {after}"),
        });
        Ok(ExitCode::SUCCESS)
    })
}

fn on_a_runtime(work: impl Future<Output = Result<ExitCode, Error>>) -> Result<ExitCode, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(work);
    runtime.shutdown_background();
    code
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "lazuli: {text}");
}
