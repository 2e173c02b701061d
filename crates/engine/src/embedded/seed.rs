//! An empty log with its tables, made quickly.
//!
//! fjall syncs some seventy times while it makes a database and its keyspaces, which a server's first
//! start would wait for. So it makes them in memory, and the few small files are copied and synced here.

use super::{Options, Spaces};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file system in memory, on Linux; where it is not there, the log is made in place.
const IN_MEMORY: &str = "/dev/shm";

/// Everything is durable when this returns, except the name `to` itself.
pub(super) fn plant(to: &Path, options: &Options, name: u128) {
    if try_plant(to, options, name).is_err() {
        // Whatever is there is not complete; fjall starts afresh.
        let _ = fs::remove_dir_all(to);
    }
}

fn try_plant(to: &Path, options: &Options, name: u128) -> io::Result<()> {
    let scratch = Scratch(Path::new(IN_MEMORY).join(format!("lazuli-{name:032x}")));
    fs::create_dir(&scratch.0)?;
    drop(Spaces::open(&scratch.0, options).map_err(io::Error::other)?);
    let mut made = Vec::new();
    copy(&scratch.0, to, &mut made)?;
    // All names first, then all syncs: the first one takes most of the work for the others.
    made.iter().try_for_each(|path| File::open(path)?.sync_all())
}

fn copy(from: &Path, to: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target, made)?;
            continue;
        }
        if target.extension().is_some_and(|extension| extension == "jnl") {
            // Allocated ahead and empty: an empty file means the same.
            File::create_new(&target)?;
        } else {
            fs::write(&target, fs::read(entry.path())?)?;
        }
        made.push(target);
    }
    made.push(to.to_owned());
    Ok(())
}

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
