//! conformance/smb: the File service over SMB, by clients that others wrote. pytest runs smbclient, impacket and smbprotocol; smbtorture
//! runs test by test; a Linux kernel in a QEMU guest mounts a share. What cannot be installed here is said and left out.

use super::{Outcome, python};
use crate::paths;
use crate::server::Server;
use crate::shell::{Chore, command, run as execute, works};

const TESTS: &str = "conformance/smb";

pub fn run() -> Chore<Outcome> {
    let requirements = paths::root().join(TESTS).join("requirements.txt");
    let interpreter = python::install(&requirements, "venv-smb")?;
    let has_clients = debian(&["smbclient", "smbtorture"], &["smbclient", "samba-testsuite"]);
    let server = Server::start("smb")?;
    let port = server.address("smb").rsplit(':').next().unwrap_or_default().to_owned();
    let python = |words: &[&str]| {
        let mut command = command(&interpreter);
        command.arg("-B").args(words).envs(server.environment()).env("LAZULI_TEST_SMB_PORT", &port);
        command
    };
    execute(&mut python(&["-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS]))?;
    if has_clients {
        execute(&mut python(&["conformance/smb/torture.py"]))?;
    } else {
        eprintln!("left out: smbclient and smbtorture cannot be installed here");
    }
    execute(&mut python(&["conformance/smb/mount.py"]))?;
    Ok(Outcome::Passed)
}

/// Whether the programs are there, installed by Debian's packages if need be and where that is allowed.
fn debian(programs: &[&str], packages: &[&str]) -> bool {
    let are_there = || programs.iter().all(|program| works(command(program).arg("--version")));
    if are_there() {
        return true;
    }
    let mut install = command("apt-get");
    install.args(["install", "--yes", "--no-install-recommends"]).args(packages);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    works(&mut install) && are_there()
}
