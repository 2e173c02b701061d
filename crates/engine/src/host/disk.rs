//! The only door to files that the engine writes itself.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Where directories come from.
#[derive(Clone, Debug, Default)]
pub enum Disk {
    #[default]
    Real,
}

impl Disk {
    /// The directory at `path`, created when missing.
    pub fn dir(&self, path: &Path) -> io::Result<Dir> {
        match self {
            Self::Real => {
                std::fs::create_dir_all(path)?;
                Ok(Dir::Real(path.to_owned()))
            }
        }
    }
}

/// A directory; files in it are addressed by name.
#[derive(Clone, Debug)]
pub enum Dir {
    Real(PathBuf),
}
