//! The secret of user delegation keys outlives a power failure that follows the first start.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::{BINARY, Server, free_ports};

const CALLS: &str = "trace=openat,close,rename,renameat,renameat2,fsync,fdatasync";

/// As the crash tests of the engine: said aloud, and not a pass of anything.
fn strace() -> bool {
    let status = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    let there = status.is_ok_and(|status| status.success());
    if !there {
        eprintln!("\n*** NOT TESTED: strace is missing or not allowed here. ***\n");
    }
    there
}

/// Whether the directory is synced behind the renaming; `None` when nothing was renamed.
fn name_is_synced(trace: &str, directory: &str) -> Option<bool> {
    let mut calls = trace.lines().filter_map(|line| line.split_once(' ')).map(|(_, call)| call.trim_start());
    calls.find(|call| call.starts_with("rename") && call.contains("delegation-secret\""))?;
    let mut descriptor = None;
    for call in calls {
        if call.starts_with("openat(") && call.contains(&format!("\"{directory}\"")) {
            descriptor = call.rsplit_once("= ").map(|(_, result)| result.trim());
        } else if let Some(synced) = call.strip_prefix("fsync(") {
            // Another thread may call before it returns.
            let synced = synced.split([')', ' ']).next();
            if descriptor.is_some() && synced == descriptor {
                return Some(true);
            }
        }
    }
    Some(false)
}

#[test]
fn its_name_is_durable_before_it_is_used() {
    if !strace() {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let (data, output) = (home.path().join("data"), home.path().join("trace"));
    let mut command = Command::new("strace");
    // The tracer is a process beside the server, which is our child.
    command.args(["-D", "-f", "-e", CALLS, "-o"]).arg(&output).arg(BINARY);
    let server = Server::start(free_ports(&mut command).arg("--silent").arg("--location").arg(&data));
    server.stop();
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let trace = std::fs::read_to_string(&output).unwrap_or_default();
        let synced = name_is_synced(&trace, data.join("lazuli-data").to_str().expect("a name"));
        if synced == Some(true) {
            return;
        }
        // What the tracer wrote may come a moment later.
        assert!(Instant::now() < end, "{synced:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
