//! Programs that Debian's packages have.

use std::process::Command;
use std::sync::OnceLock;

use crate::shell::{command, works};

/// A mirror that does not answer is given up soon: without packages something is left out, and the rest is run.
const BOUNDS: [&str; 6] =
    ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=20", "-o", "Acquire::https::Timeout=20"];

/// Where postgresql-common reads whether a package of a server makes a cluster of the system and starts it.
const CREATE_CLUSTER: &str = "/etc/postgresql-common/createcluster.conf";

/// Something could not be installed: apt-get is not asked again.
static FAILED: OnceLock<()> = OnceLock::new();

/// Whether they are there, installed by apt-get if need be and where that is allowed.
pub fn get(are_there: impl Fn() -> bool, packages: &[&str]) -> bool {
    get_by(are_there, &FAILED, || install(packages))
}

/// A test that needs PostgreSQL starts a server of its own. None of the system is made along with the package.
pub fn postgres() -> bool {
    let install = || {
        install(&["postgresql-common"])
            && {
                eprintln!("{CREATE_CLUSTER}: create_main_cluster = false");
                works(command("pg_conftool").args([CREATE_CLUSTER, "set", "create_main_cluster", "false"]))
            }
            && install(&["postgresql"])
    };
    get_by(|| lazuli_testing::postgres::available().is_some(), &FAILED, install)
}

fn get_by(are_there: impl Fn() -> bool, failed: &OnceLock<()>, install: impl FnOnce() -> bool) -> bool {
    if are_there() {
        return true;
    }
    let done = failed.get().is_none() && install() && are_there();
    if !done {
        let _ = failed.set(());
    }
    done
}

fn install(packages: &[&str]) -> bool {
    eprintln!("not here; apt-get installs: {}", packages.join(" "));
    let install = || works(apt_get("install").args(["--yes", "--no-install-recommends"]).args(packages));
    // A new machine does not know yet which packages there are.
    install() || (works(&mut apt_get("update")) && install())
}

fn apt_get(action: &str) -> Command {
    let mut apt_get = command("apt-get");
    apt_get.args(BOUNDS).arg(action).env("DEBIAN_FRONTEND", "noninteractive");
    apt_get
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apt_get_is_bounded_and_not_asked_again_when_it_failed() {
        let command = apt_get("update");
        let words: Vec<_> = command.get_args().filter_map(|word| word.to_str()).collect();
        assert!(BOUNDS.iter().all(|bound| words.contains(bound)), "{words:?}");
        let (failed, asked) = (OnceLock::new(), std::cell::Cell::new(0));
        let install = || {
            asked.set(asked.get() + 1);
            false
        };
        assert!(!get_by(|| false, &failed, install));
        assert!(!get_by(|| false, &failed, install));
        assert!(get_by(|| true, &failed, install), "what is there needs no apt-get");
        assert_eq!(asked.get(), 1);
    }
}
