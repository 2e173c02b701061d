//! Syncs the log beside fjall.
//!
//! fjall holds its lock on the log while it syncs, and nothing can be written meanwhile. So it is asked only to
//! write (its buffers are empty when a batch returns), and the file is synced here, through a handle of our own:
//! a sync makes durable what was written to the file through any handle.
//!
//! Several groups may be synced at a time, each through a handle that no other sync uses meanwhile. The system tells
//! each handle once that writing to the disk failed, also when the sync of another handle was the reason to write. So a
//! group that is told that all is well can count on it.
//!
//! The log goes on in a file with the next number now and then. fjall syncs the old file, then makes the new
//! one, then syncs the directory, and writes nothing in between. So a batch that was written before the call is
//! either in a file that is durable already, or in the newest there is.

use super::journal::Newest;
use crate::local::commit::pending::GROUPS;
use parking_lot::Mutex;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

pub(crate) struct Log {
    /// Looked for at every sync, by whichever handle: so that none that rested meanwhile holds on to a file that is
    /// long gone.
    newest: Mutex<Newest>,
    handles: Vec<Mutex<Handle>>,
}

struct Handle {
    path: Arc<Path>,
    file: File,
}

impl Log {
    pub fn open(dir: &Path) -> io::Result<Self> {
        let newest = Newest::of(dir)?;
        let handle = |_| Handle::open(newest.path().clone()).map(Mutex::new);
        let handles = (0..GROUPS).map(handle).collect::<io::Result<_>>()?;
        Ok(Self { handles, newest: Mutex::new(newest) })
    }

    pub fn sync(&self) -> io::Result<()> {
        let newest = self.newest.lock().look()?.clone();
        let free = self.handles.iter().find_map(|handle| handle.try_lock());
        let mut handle = free.unwrap_or_else(|| self.handles[0].lock());
        if handle.path != newest {
            *handle = Handle::open(newest)?;
        }
        handle.file.sync_data()
    }

    /// The file that was written to when a group was last synced.
    pub fn newest(&self) -> Arc<Path> {
        self.newest.lock().path().clone()
    }
}

impl Handle {
    fn open(path: Arc<Path>) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).open(&path)?;
        Ok(Self { path, file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_that_rested_goes_on_in_the_newest_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |number: u64| dir.path().join(format!("{number}.jnl"));
        File::create(at(3)).expect("a file");
        let log = Log::open(dir.path()).expect("opens");
        for number in 4..7 {
            File::create(at(number)).expect("a file");
            log.sync().expect("syncs");
            std::fs::remove_file(at(number - 1)).expect("removes");
        }
        assert_eq!(*log.handles[0].lock().path, at(6));
        assert_eq!(*log.handles[1].lock().path, at(3), "no sync has used it");
        let _busy = log.handles[0].lock();
        log.sync().expect("syncs");
        assert_eq!(*log.handles[1].lock().path, at(6));
    }
}
