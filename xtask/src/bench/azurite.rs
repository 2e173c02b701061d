//! The emulator to compare with, installed below the target directory the first time.

use std::path::{Path, PathBuf};

use crate::paths;
use crate::shell::{self, command, works};

struct Install {
    directory: &'static str,
    packages: &'static [&'static str],
    /// The program is run by the Node of the packages, which lies beside it, or by the machine's.
    node: bool,
}

/// The best first: the newest emulator with the Node that it wants, then the last that runs on Node 20.
const INSTALLS: [Install; 2] = [
    Install { directory: "azurite-3.37", packages: &["node@22", "azurite@3.37.0"], node: true },
    Install { directory: "azurite-3.35", packages: &["azurite@3.35.0"], node: false },
];

/// The benchmark goes on without one, and says so.
pub fn installed() -> Option<PathBuf> {
    INSTALLS.iter().find_map(Install::program)
}

impl Install {
    fn program(&self) -> Option<PathBuf> {
        let directory = paths::target().join(self.directory);
        let programs = directory.join("node_modules/.bin");
        if !self.works(&programs) && works(command("npm").arg("--version")) {
            let mut install = command("npm");
            install.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&directory);
            if let Err(reason) = shell::run(install.args(self.packages)) {
                eprintln!("xtask: {} is not there to compare with: {reason}", self.directory);
            }
        }
        self.works(&programs).then(|| programs.join("azurite"))
    }

    fn works(&self, programs: &Path) -> bool {
        let node = if self.node { programs.join("node") } else { PathBuf::from("node") };
        // The package `node` is a shell until its own install script, which npm may refuse, has run.
        works(command(node).arg(programs.join("azurite")).arg("--version"))
    }
}
