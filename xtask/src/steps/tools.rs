//! conformance/tools: programs that people use (azcopy, rclone, deltalake, the Event Hubs checkpoint store; az too where
//! LAZULI_TEST_AZ is set, for it is large). They are installed below the target directory.

use super::Outcome;
use crate::paths;
use crate::server::Server;
use crate::shell::{Chore, command, run as execute};

pub fn run() -> Chore<Outcome> {
    let server = Server::start("tools")?;
    let mut python = command("python3");
    python.args(["-B", "conformance/tools/run.py", "--place"]).arg(paths::target().join("tools"));
    if std::env::var_os("LAZULI_TEST_AZ").is_some() {
        python.arg("--with-az");
    }
    execute(python.envs(server.environment()))?;
    Ok(Outcome::Passed)
}
