//! What is to be ended with us, however we end: a shell that reads from us, and acts when its input ends.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// When it is dropped, nothing is done any more.
pub struct Guard {
    shell: Option<Child>,
}

impl Guard {
    /// `script` is run, with its arguments as `$1` and so on, when this process is gone. It also outlives a signal to the group.
    pub fn new(script: &str, arguments: &[&str]) -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("read -r _; {script}"), "guard"]).args(arguments).current_dir("/");
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        Self { shell: shell.spawn().ok() }
    }

    /// kill -9 of a child.
    pub fn of(process: u32) -> Self {
        Self::new("kill -KILL \"$1\"", &[&process.to_string()])
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(shell) = &mut self.shell {
            let _ = shell.kill();
            let _ = shell.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("100").spawn().expect("a child")
    }

    #[test]
    fn a_child_is_killed_when_the_input_of_its_guard_ends() {
        let mut child = sleeper();
        let mut guard = Guard::of(child.id());
        assert_eq!(child.try_wait().expect("asked"), None);
        // As the system does it when this process is gone.
        drop(guard.shell.as_mut().and_then(|shell| shell.stdin.take()));
        let end = Instant::now() + Duration::from_secs(20);
        while child.try_wait().expect("asked").is_none() {
            assert!(Instant::now() < end, "it lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_guard_that_is_dropped_does_nothing() {
        let mut child = sleeper();
        drop(Guard::of(child.id()));
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(child.try_wait().expect("asked"), None);
        child.kill().and_then(|()| child.wait()).expect("ended");
    }
}
