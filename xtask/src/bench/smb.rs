//! The File service over SMB beside Samba's smbd: `bench/smb.py`, with the clients that the step smb of the tests installs.

use crate::paths;
use crate::shell::{self, Chore, cargo_dist, command};
use crate::steps::python;

pub fn run(arguments: &[&str]) -> Chore {
    shell::run(cargo_dist("build").args(["--package", "lazuli"]))?;
    let interpreter = python::install(&paths::root().join("conformance/smb/requirements.txt"), "venv-smb")?;
    let mut bench = command(interpreter);
    bench.args(["-B", "bench/smb.py", "--lazuli"]).arg(paths::dist().join("lazuli"));
    for argument in arguments {
        match *argument {
            "quick" => bench.args(["--mebibytes=256", "--files=500", "--rounds=1"]),
            other => bench.arg(other),
        };
    }
    shell::run(&mut bench)
}
