//! Running other programs, showing what is run.

use std::ffi::OsStr;
use std::process::Command;

use crate::paths;

/// Why a chore did not end well; for a person.
pub type Chore<T = ()> = Result<T, String>;

/// `cargo` of the toolchain that runs us.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A command of cargo that builds what is measured and packaged: the profile `dist`.
pub fn cargo_dist(command: &str) -> Command {
    let mut cargo = cargo();
    cargo.args([command, "--profile", "dist"]);
    cargo
}

pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(paths::root());
    command
}

pub fn run(command: &mut Command) -> Chore {
    let shown = show(command);
    eprintln!("$ {shown}");
    let status = command.status().map_err(|error| format!("cannot run `{shown}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed: {status}")) }
}

/// What it writes to its output.
pub fn output(command: &mut Command) -> Chore<String> {
    let shown = show(command);
    let done = command.output().map_err(|error| format!("cannot run `{shown}`: {error}"))?;
    match done.status.success() {
        true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        false => Err(format!("`{shown}` failed: {}", done.status)),
    }
}

/// Whether a program is there, asked in the cheapest way.
pub fn works(command: &mut Command) -> bool {
    use std::process::Stdio;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
