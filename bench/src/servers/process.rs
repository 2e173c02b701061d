//! A child that says where it listens. Ended, and its data removed, when dropped.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::Outcome;
use crate::options::Run;

/// Announced before the other services.
const BLOBS: &str = "blob listening on http://";
const PATIENCE: Duration = Duration::from_secs(60);
/// Then it is killed.
const GRACE: Duration = Duration::from_secs(2);

pub struct Process {
    child: lazuli_testing::Process,
    address: SocketAddr,
    /// Of its blobs, where another service is measured beside them.
    blobs: Option<SocketAddr>,
    directory: PathBuf,
}

impl Process {
    /// `location` is the flag before the directory, which otherwise comes last and bare. The address follows
    /// `announcement` in a line of the output.
    pub fn start(
        run: &Run,
        name: &str,
        mut command: Command,
        location: Option<&str>,
        announcement: &str,
    ) -> Outcome<Self> {
        let directory = run.directory.join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&directory)?;
        command.args(location).arg(&directory);
        command.stderr(File::create(run.directory.join(format!("{name}.log")))?);
        let mut blobs = None;
        let announced = |line: &str| {
            let after = |text: &str| line.split_once(text)?.1.trim().parse().ok();
            blobs = blobs.or_else(|| after(BLOBS));
            after(announcement)
        };
        let mut process = Self::spawn(name, command, directory, announced)?;
        process.blobs = blobs;
        Ok(process)
    }

    /// `announced` finds the address in a line of the output, or knows it when the line says that the child is ready.
    pub fn spawn(
        name: &str,
        mut command: Command,
        directory: PathBuf,
        announced: impl FnMut(&str) -> Option<SocketAddr>,
    ) -> Outcome<Self> {
        match lazuli_testing::Process::start(&mut command, PATIENCE, announced) {
            Ok((child, address)) => Ok(Self { child, address, blobs: None, directory }),
            Err(reason) => {
                let _ = fs::remove_dir_all(&directory);
                Err(format!("{name}: {reason}; see its log").into())
            }
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn blobs(&self) -> Option<SocketAddr> {
        self.blobs
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Workers of its own end with a child that is asked to end, not with one that is killed.
        if self.child.signal("TERM").is_ok() {
            self.child.wait(GRACE);
        }
        self.child.kill();
        let _ = fs::remove_dir_all(&self.directory);
    }
}
