//! nginx to compare reads with: the machine's, or Debian's unpacked below the target directory.

use std::path::PathBuf;

use crate::paths;
use crate::shell::{self, command, works};

/// The benchmark goes on without one, and says so.
pub fn installed() -> Option<PathBuf> {
    let of_machine = PathBuf::from("nginx");
    if works(command(&of_machine).arg("-v")) {
        return Some(of_machine);
    }
    let directory = paths::target().join("nginx");
    let program = directory.join("usr/sbin/nginx");
    if !works(command(&program).arg("-v")) && works(command("apt-get").arg("--version")) {
        let unpack = "mkdir -p \"$0\" && cd \"$0\" && apt-get download nginx && dpkg-deb -x nginx_*.deb .";
        if let Err(reason) = shell::run(command("sh").args(["-c", unpack]).arg(&directory)) {
            eprintln!("xtask: nginx is not there to compare with: {reason}");
        }
    }
    works(command(&program).arg("-v")).then_some(program)
}
