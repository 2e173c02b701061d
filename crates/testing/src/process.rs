//! A child that says something on its output when it is ready.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::guard::Guard;

/// Killed when dropped, and also when we end without a word.
pub struct Process {
    child: Child,
    _guard: Guard,
}

/// A command that may open so many files, and no more.
pub fn with_descriptors(binary: impl AsRef<OsStr>, most: u32) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n \"$0\"; exec \"$@\"", &most.to_string()]).arg(binary);
    shell
}

impl Process {
    /// Shows `look` each line of the output, until it has seen what it wanted. Later lines are read and dropped, since a
    /// full pipe would stop the child.
    pub fn start<T>(
        command: &mut Command,
        patience: Duration,
        mut look: impl FnMut(&str) -> Option<T>,
    ) -> Result<(Self, T), String> {
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let child =
            spawned.map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))?;
        let mut process = Self::guarded(child);
        let output = process.child.stdout.take().ok_or("the child has no output")?;
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        let end = Instant::now() + patience;
        while let Ok(line) = told.recv_timeout(end.saturating_duration_since(Instant::now())) {
            if let Some(seen) = look(&line) {
                return Ok((process, seen));
            }
        }
        process.kill();
        Err(format!("did not start: {}", process.errors()))
    }

    /// One that is asked otherwise whether it is ready. What it writes to its output is dropped.
    pub fn spawn(command: &mut Command) -> Result<Self, String> {
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let child =
            spawned.map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))?;
        Ok(Self::guarded(child))
    }

    fn guarded(child: Child) -> Self {
        Self { _guard: Guard::of(child.id()), child }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// kill -9. The child is dead when this returns.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// `name` as `kill` knows it: TERM, HUP.
    pub fn signal(&self, name: &str) -> Result<(), String> {
        let sent = Command::new("kill").args([format!("-{name}"), self.id().to_string()]).status();
        match sent {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("kill -{name}: {status}")),
            Err(error) => Err(format!("kill: {error}")),
        }
    }

    /// None while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// None when it still runs after so long.
    pub fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let end = Instant::now() + patience;
        loop {
            let ended = self.ended();
            if ended.is_some() || Instant::now() >= end {
                return ended;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What a child that has ended wrote to a stderr that was piped.
    pub fn errors(&mut self) -> String {
        let mut errors = Vec::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_end(&mut errors);
        }
        String::from_utf8_lossy(&errors).into_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stderr(Stdio::piped());
        command
    }

    #[test]
    fn a_child_is_started_when_it_has_said_so() {
        let mut command = shell("echo one; echo port 7; sleep 100");
        let look = |line: &str| line.strip_prefix("port ").map(str::to_owned);
        let (mut process, port) = Process::start(&mut command, PATIENCE, look).expect("it starts");
        assert_eq!((port.as_str(), process.ended()), ("7", None));
        process.signal("TERM").expect("signalled");
        assert_eq!(process.wait(PATIENCE).map(|status| status.success()), Some(false));
    }

    #[test]
    fn a_child_that_ends_or_says_nothing_is_not_started() {
        let never = |_: &str| None::<()>;
        let ended = Process::start(&mut shell("echo no use >&2; exit 3"), PATIENCE, never).err();
        assert_eq!(ended.as_deref(), Some("did not start: no use\n"));
        let silent = Process::start(&mut shell("exec sleep 100"), Duration::from_millis(100), never);
        assert!(silent.is_err());
    }
}
