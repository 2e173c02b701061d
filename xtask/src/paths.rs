//! Where things are.

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Where everything made goes, also what is installed for tests.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(directory) => root().join(directory),
        None => root().join("target"),
    }
}

/// The build that is measured and packaged, of the profile `dist`.
pub fn dist() -> PathBuf {
    target().join("dist")
}

/// Recorded conversations with the real service; not part of the repository, and not everywhere.
pub fn replay() -> Option<PathBuf> {
    let elsewhere = std::env::var_os("LAZULI_REPLAY").map(PathBuf::from);
    let directory = elsewhere.unwrap_or_else(|| root().join("../shared/replay"));
    directory.join("replay.py").is_file().then_some(directory)
}
