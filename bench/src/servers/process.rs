//! A child that says where it listens. Ended, and its data removed, when dropped.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::Outcome;
use crate::options::Run;

pub struct Process {
    child: Child,
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
        command.args(location).arg(&directory).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(File::create(run.directory.join(format!("{name}.log")))?);
        let mut child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
        let address = child.stdout.take().and_then(|output| announced(output, announcement));
        match address {
            Some(address) => Ok(Self { child, address, directory }),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                let _ = fs::remove_dir_all(&directory);
                Err(format!("{name} did not say where it listens").into())
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
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn announced(output: std::process::ChildStdout, announcement: &str) -> Option<SocketAddr> {
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let address = lines.find_map(|line| {
        let (_, address) = line.split_once(announcement)?;
        address.trim().parse().ok()
    });
    // A full pipe would stop the child.
    std::thread::spawn(move || lines.for_each(drop));
    address
}
