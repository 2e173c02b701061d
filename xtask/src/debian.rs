//! Programs that Debian's packages have.

use crate::shell::{command, works};

/// Whether they are there, installed by apt-get if need be and where that is allowed.
pub fn get(are_there: impl Fn() -> bool, packages: &[&str]) -> bool {
    if are_there() {
        return true;
    }
    let install = || {
        let mut install = command("apt-get");
        install.args(["install", "--yes", "--no-install-recommends"]).args(packages);
        works(install.env("DEBIAN_FRONTEND", "noninteractive"))
    };
    // A new machine does not know yet which packages there are.
    (install() || (works(command("apt-get").arg("update")) && install())) && are_there()
}

/// A test that needs PostgreSQL starts a server of its own.
pub fn postgres() -> bool {
    get(|| lazuli_testing::postgres::available().is_some(), &["postgresql"])
}
