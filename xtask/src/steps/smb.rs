//! conformance/smb: the File service over SMB, by clients that others wrote. pytest runs smbclient, impacket and smbprotocol; smbtorture
//! runs test by test; a Linux kernel in a QEMU guest mounts a share. What cannot be installed here is said and left out.

use super::{Outcome, python};
use crate::debian;
use crate::paths;
use crate::server::Server;
use crate::shell::{Chore, command, run as execute, works};

const TESTS: &str = "conformance/smb";

pub fn run() -> Chore<Outcome> {
    let requirements = paths::root().join(TESTS).join("requirements.txt");
    let interpreter = python::install(&requirements, "venv-smb")?;
    let are_there = || ["smbclient", "smbtorture"].iter().all(|name| works(command(name).arg("--version")));
    let has_clients = debian::get(are_there, &["smbclient", "samba-testsuite"]);
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
