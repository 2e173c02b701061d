//! Every write, sync and rename of a life fails once, with the real fjall beneath.

use super::{QUICK, data, life, scratch, script, strace};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;

/// Which calls fail. strace counts them for each thread by itself, and the committer has several that take turns.
const CALLS: [(&str, usize); 7] = [
    ("fdatasync", 40),
    ("fsync", 40),
    ("pwritev", 30),
    ("pwrite64", 6),
    ("write", 150),
    ("renameat,rename", 8),
    ("fallocate,ftruncate", 6),
];

#[test]
fn after_any_failed_call_a_restart_finds_what_was_acknowledged() {
    if !strace() {
        return;
    }
    let mut cases = Vec::new();
    for (calls, most) in CALLS {
        for errno in ["EIO", "ENOSPC"] {
            // All of the first, then ever fewer: a life repeats itself.
            let mut nth = 1;
            while nth <= most {
                cases.push(Case { calls, errno, nth });
                nth += 1 + nth / 8;
            }
        }
    }
    let home = scratch();
    let total = cases.len();
    cases.reverse();
    let (cases, outcomes) = (Mutex::new(cases), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for runner in 0..3 {
            let (cases, outcomes, dir) = (&cases, &outcomes, home.path().join(format!("life-{runner}")));
            scope.spawn(move || {
                let next = || cases.lock().unwrap().pop();
                while let Some(case) = next() {
                    let outcome = case.run(&dir).map_err(|what| format!("{case:?}: {what}"));
                    outcomes.lock().unwrap().push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap();
    let failures: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} of {total} fail:\n{}", failures.len(), failures[0]);
    let stopped = outcomes.iter().filter(|outcome| matches!(outcome, Ok(End::Stopped))).count();
    let not_opened = outcomes.iter().filter(|outcome| matches!(outcome, Ok(End::NotOpened))).count();
    println!("{total} lives: {stopped} stopped by the failure, {not_opened} not begun");
    // Not a share: which thread makes the Nth call, and whether one does, is different in each life.
    assert!(stopped >= 30 && not_opened >= 30, "{stopped} and {not_opened} of {total}");
}

#[derive(Debug)]
struct Case {
    calls: &'static str,
    errno: &'static str,
    nth: usize,
}

enum End {
    NotOpened,
    Stopped,
    /// The failure did not matter, or did not happen.
    Whole,
}

impl Case {
    fn run(&self, dir: &Path) -> Result<End, String> {
        std::fs::create_dir(dir).map_err(|error| error.to_string())?;
        let inject = format!("inject={}:error={}:when={}", self.calls, self.errno, self.nth);
        let trace = format!("trace={}", self.calls);
        let before = ["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", &trace, "-e", &inject];
        let output = life(dir, &before.map(OsString::from)).env(QUICK, "1").output();
        let said = String::from_utf8_lossy(&output.map_err(|error| error.to_string())?.stdout).into_owned();
        let result = self.judge(dir, &said).map_err(|what| format!("{what}\n{said}"));
        std::fs::remove_dir_all(dir).map_err(|error| error.to_string())?;
        result
    }

    fn judge(&self, dir: &Path, said: &str) -> Result<End, String> {
        let acks = said.lines().filter_map(|line| line.strip_prefix("ack ")?.parse::<usize>().ok());
        let done = acks.max().map_or(0, |last| last + 1);
        // A quick life leaves out the step that waits.
        let next = if done == script::WAIT { done + 1 } else { done };
        let stopped = said.lines().any(|line| line.starts_with("stopped"));
        if said.contains("accepted after the failure") {
            return Err("a write was accepted after the failure".into());
        }
        let end = match (said.contains("opened\n"), stopped) {
            (false, _) => End::NotOpened,
            (true, true) => End::Stopped,
            (true, false) => End::Whole,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let found = runtime.block_on(async {
            let engine = script::open(&data(dir)).map_err(|error| format!("after a restart: {error}"))?;
            script::read_all(&engine).await.map_err(|error| format!("after a restart: {error}"))
        })?;
        // Whether the step that failed was committed is open.
        let possible = [script::state_after(done), script::state_after(next + 1)];
        if possible.iter().any(|state| script::is_state(&found, state)) {
            return Ok(end);
        }
        Err(format!("{done} steps were acknowledged, found {:?}", found.keys().collect::<Vec<_>>()))
    }
}
