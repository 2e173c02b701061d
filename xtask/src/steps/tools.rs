//! conformance/tools: programs and libraries that people use, such as azcopy, az, rclone, deltalake and pyarrow. They are installed
//! below the target directory.

use super::Outcome;
use crate::paths;
use crate::server::Server;
use crate::shell::{Chore, command, run as execute};

pub fn run() -> Chore<Outcome> {
    let server = Server::start("tools")?;
    let mut python = command("python3");
    python.args(["-B", "conformance/tools/run.py", "--place"]).arg(paths::target().join("tools"));
    execute(python.envs(server.environment()))?;
    Ok(Outcome::Passed)
}
