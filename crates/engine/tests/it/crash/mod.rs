//! The whole engine, with the real fjall beneath, against a disk that crashes and fails.
//!
//! A child process lives a short life under strace. From the recorded system calls every disk is rebuilt
//! that a crash could have left, and opened: each acknowledged step is there, none is half there.

mod busy;
mod cut;
mod disk;
mod full;
mod inject;
mod rot;
mod script;
mod trace;

use lazuli_engine::{Engine, EngineError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DIR: &str = "LAZULI_TEST_LIFE_DIR";
/// Set when the life need not wait for what happens once a second.
const QUICK: &str = "LAZULI_TEST_LIFE_QUICK";

/// `LAZULI_TEST_SEED`, `LAZULI_TEST_ROUNDS` and `LAZULI_TEST_SUBSETS` change what is tried.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Where a life keeps its data: the engine makes both directories, so that a crash can lose their names.
fn data(dir: &Path) -> PathBuf {
    dir.join("made").join("data")
}

/// A command that lives the life in this directory, begun with `before` (strace and its arguments).
fn life(dir: &Path, before: &[OsString]) -> Command {
    again("crash::child", dir, before)
}

/// This binary again, for one test in this directory.
fn again(test: &str, dir: &Path, before: &[OsString]) -> Command {
    let exe = std::env::current_exe().expect("this binary");
    let mut words: Vec<OsString> = before.to_vec();
    words.push(exe.into());
    words.extend(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"].map(OsString::from));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(DIR, dir).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// The process that is recorded.
#[test]
#[ignore = "started by the other tests here"]
fn child() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else { return };
    let quick = std::env::var_os(QUICK).is_some();
    if quick {
        // The write that fails may be the one that wakes the runtime, which then sleeps for ever.
        std::thread::spawn(|| {
            std::thread::sleep(std::time::Duration::from_secs(20));
            std::process::exit(1);
        });
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("runtime");
    runtime.block_on(async {
        let engine = match script::open(&data(&dir)) {
            Ok(engine) => engine,
            Err(error) => return say(&format!("not opened: {error}\n")),
        };
        say("opened\n");
        for step in (0..script::STEPS).filter(|step| !quick || *step != script::WAIT) {
            if let Err(error) = script::run_step(&engine, step).await {
                say(&format!("err {step} {error}\n"));
                return after_failure(&engine, &error).await;
            }
            say(&format!("ack {step}\n"));
        }
    });
    if quick {
        runtime.shutdown_background();
    }
}

/// With a call of its own: when `write` is made to fail, this still works.
fn say(text: &str) {
    use std::io::{IoSlice, Write};
    use std::os::fd::AsFd;
    let stdout = std::io::stdout().as_fd().try_clone_to_owned().expect("standard output");
    let _ = std::fs::File::from(stdout).write_vectored(&[IoSlice::new(text.as_bytes())]);
}

/// An engine that failed to make something durable must not pretend to have done so with anything later.
async fn after_failure(engine: &Engine, error: &EngineError) {
    match engine.is_stopped() {
        Some(reason) => {
            say(&format!("stopped: {reason}\n"));
            for step in [0, 4, 1] {
                if script::run_step(engine, step).await.is_ok() {
                    say("accepted after the failure\n");
                }
            }
        }
        None if matches!(error, EngineError::OutOfSpace) => say("full\n"),
        None => say("accepted after the failure: it has not stopped\n"),
    }
}

/// Where images are rebuilt: in memory if possible, since thousands of them are synced.
fn scratch() -> tempfile::TempDir {
    let shared = Path::new("/dev/shm");
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("lazuli-crash-");
        builder
    };
    builder().tempdir_in(shared).or_else(|_| builder().tempdir()).expect("temporary directory")
}

/// Is strace there, and allowed? It is installed when that is possible.
fn strace() -> bool {
    let works = || {
        let status = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if works() {
        return true;
    }
    let _ = Command::new("apt-get").args(["install", "-y", "-qq", "strace"]).stdout(Stdio::null()).status();
    let there = works();
    if !there {
        eprintln!("\n*** NOT TESTED: strace is missing or not allowed here, and could not be installed. ***");
        eprintln!("*** Crashes and failures of the whole engine were not tried. ***\n");
    }
    there
}
