//! The data directory: which process holds it, and which format it is in.
//!
//! ```text
//! LOCK         held while an engine has the directory open
//! FORMAT       the version of everything below; written last when a directory is made
//! NEW          there while a directory is being made; what is beside it holds nothing yet
//! superblock   how far the engine came
//! kv/          the log and the tables
//! ext/         extents
//! ```

use super::OpenError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The format that this program writes.
const FORMAT: u32 = 1;
const HEAD: &str = "lazuli data, format ";

#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    /// Directories that hold a name on the way to this one which may not be durable.
    above: Vec<PathBuf>,
    lock: File,
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Closing alone would leave the lock with a process that is being forked at this moment.
        let _ = self.lock.unlock();
    }
}

impl Directory {
    /// Takes the directory, making it when it is missing.
    pub fn take(path: &Path) -> Result<Self, OpenError> {
        let above = parents_of_missing(path);
        std::fs::create_dir_all(path).map_err(|error| OpenError::io("create", path, error))?;
        let lock = path.join("LOCK");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock)
            .map_err(|error| OpenError::io("open", &lock, error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), above, lock: file }),
            Err(TryLockError::WouldBlock) => Err(OpenError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => Err(OpenError::io("lock", &lock, error)),
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether the directory is ready; if not, it is empty now and marked as being made.
    pub fn is_made(&self) -> Result<bool, OpenError> {
        let format = self.file("FORMAT");
        match std::fs::read_to_string(&format) {
            Ok(text) => self.check_format(&text).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.begin_making().map(|()| false),
            Err(error) => Err(OpenError::io("read", &format, error)),
        }
    }

    fn check_format(&self, text: &str) -> Result<(), OpenError> {
        let found = text.strip_prefix(HEAD).and_then(|rest| rest.trim_end().parse::<u32>().ok());
        match found {
            Some(FORMAT) => Ok(()),
            Some(found) if found > FORMAT => {
                Err(OpenError::Newer { path: self.path.clone(), found, known: FORMAT })
            }
            _ => Err(OpenError::NotOurs(self.path.clone())),
        }
    }

    fn begin_making(&self) -> Result<(), OpenError> {
        let failed = |error| OpenError::io("prepare", &self.path, error);
        let new = self.file("NEW");
        if !new.try_exists().map_err(failed)? {
            // Never touch a directory that another program filled.
            for entry in std::fs::read_dir(&self.path).map_err(failed)? {
                let name = entry.map_err(failed)?.file_name();
                if name != "LOCK" && name != "lost+found" {
                    return Err(OpenError::NotOurs(self.path.clone()));
                }
            }
            File::create(&new).and_then(|_| self.sync()).map_err(failed)?;
        }
        // Also when the directory was there before: an earlier start may have made it and ended here.
        self.above.iter().try_for_each(|dir| sync_above(dir)).map_err(failed)?;
        for left in ["kv", "ext"] {
            match std::fs::remove_dir_all(self.file(left)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Everything is in place and durable.
    pub fn end_making(&self) -> Result<(), OpenError> {
        let failed = |error| OpenError::io("prepare", &self.path, error);
        let write = || {
            let mut file = File::create(self.file("FORMAT.tmp"))?;
            writeln!(file, "{HEAD}{FORMAT}")?;
            file.sync_all()?;
            std::fs::rename(self.file("FORMAT.tmp"), self.file("FORMAT"))?;
            self.sync()?;
            std::fs::remove_file(self.file("NEW"))
        };
        write().map_err(failed)
    }

    fn sync(&self) -> io::Result<()> {
        sync(&self.path)
    }
}

/// The directory that holds this one, and those that hold a directory on the way to it which is not there yet.
fn parents_of_missing(path: &Path) -> Vec<PathBuf> {
    let mut parents = Vec::new();
    let mut missing = true;
    for path in path.ancestors().take_while(|path| !path.as_os_str().is_empty()) {
        if !missing {
            break;
        }
        let Some(parent) = path.parent() else { break };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        parents.push(parent.to_owned());
        missing = !parent.exists();
    }
    parents
}

/// A directory above may belong to another user and not be readable; its owner syncs its entries.
fn sync_above(dir: &Path) -> io::Result<()> {
    match sync(dir) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            tracing::warn!(dir = %dir.display(), "cannot be synced: the name of the data directory may not be durable");
            Ok(())
        }
        synced => synced,
    }
}

/// Makes the names in a directory durable.
pub(super) fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Makes the names of all directories below this one durable.
pub(super) fn sync_names(dir: &Path) -> io::Result<()> {
    let mut below = false;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            below = true;
            sync_names(&entry.path())?;
        }
    }
    if below { sync(dir) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_durable_from_the_first_directory_that_is_there() {
        let home = tempfile::tempdir().expect("a directory");
        let at = |rest: &str| home.path().join(rest);
        assert_eq!(parents_of_missing(&at("a/b/c")), [at("a/b"), at("a"), home.path().to_owned()]);
        std::fs::create_dir_all(at("a/b/c")).expect("is made");
        assert_eq!(parents_of_missing(&at("a/b/c")), [at("a/b")], "the last name may not be durable yet");
        assert_eq!(parents_of_missing(Path::new("lazuli-data")), [Path::new(".")]);
    }
}
