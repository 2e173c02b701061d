//! An empty log with its tables, made quickly.
//!
//! fjall syncs some seventy times while it makes a database and its keyspaces, which a server's first
//! start would wait for. So it makes them in memory, and the few small files are copied and synced here.

#[cfg(test)]
mod tests;

use crate::local::embedded::{Options, Spaces};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file system in memory, on Linux; where it is not there, the log is made in place.
const IN_MEMORY: &str = "/dev/shm";

/// How many files are synced at a time: syncs that wait together share the work.
const SYNCS: usize = 8;

/// True when it is made, and durable except for the name `to` itself.
pub(crate) fn create(to: &Path, options: &Options, name: u128) -> bool {
    let created = try_create(to, options, name).is_ok();
    if !created {
        // Whatever is there is not complete; fjall starts afresh.
        let _ = fs::remove_dir_all(to);
    }
    created
}

fn try_create(to: &Path, options: &Options, name: u128) -> io::Result<()> {
    let in_memory = Path::new(IN_MEMORY);
    remove_left(in_memory);
    let scratch = Scratch::new(in_memory, name)?;
    drop(Spaces::open(&scratch.path, options).map_err(io::Error::other)?);
    let mut made = Vec::new();
    copy(&scratch.path, to, &mut made)?;
    // All names first, then all syncs: the first one takes most of the work for the others.
    let files = made.iter().map(File::open).collect::<io::Result<Vec<_>>>()?;
    std::thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(SYNCS).max(1));
        let syncs: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().try_for_each(File::sync_all))).collect();
        syncs.into_iter().try_for_each(|part| part.join().unwrap_or(Err(io::ErrorKind::Other.into())))
    })
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
        // Empty; a log that is there is opened again and appended to, a log that is not is made with a length
        // (see `log_preallocator`).
        if target.extension().is_some_and(|extension| extension == "jnl") {
            continue;
        }
        fs::write(&target, fs::read(entry.path())?)?;
        made.push(target);
    }
    made.push(to.to_owned());
    Ok(())
}

const PREFIX: &str = "lazuli-";

/// Locked while its process lives, so that the next one knows what it may remove.
struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    fn new(parent: &Path, name: u128) -> io::Result<Self> {
        let path = parent.join(format!("{PREFIX}{name:032x}"));
        fs::create_dir(&path)?;
        let lock = File::open(&path)?;
        // A process that looked before it was locked removes it.
        lock.try_lock()?;
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes what processes left here that were killed in their first start.
fn remove_left(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let is_ours = name.is_some_and(|name| name.len() == 32 && u128::from_str_radix(name, 16).is_ok());
        if is_ours
            && let Ok(left) = File::open(entry.path())
            && left.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
