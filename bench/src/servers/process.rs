//! A child that says where it listens. Ended, and its data removed, when dropped.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::Outcome;
use crate::options::Run;

const PATIENCE: Duration = Duration::from_secs(60);

pub struct Process {
    child: lazuli_testing::Process,
    address: SocketAddr,
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
        let announced = |line: &str| line.split_once(announcement)?.1.trim().parse().ok();
        match lazuli_testing::Process::start(&mut command, PATIENCE, announced) {
            Ok((child, address)) => Ok(Self { child, address, directory }),
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
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill();
        let _ = fs::remove_dir_all(&self.directory);
    }
}
