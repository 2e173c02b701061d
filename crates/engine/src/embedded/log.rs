//! Syncs the log beside fjall.
//!
//! fjall holds its lock on the log while it syncs, and nothing can be written meanwhile. So it is asked only to
//! write (its buffers are empty when a batch returns), and the file is synced here, through a handle of our own:
//! a sync makes durable what was written to the file through any handle.
//!
//! The log goes on in a file with the next number now and then. fjall syncs the old file, then makes the new
//! one, then syncs the directory, and writes nothing in between. So a batch that was written before the call is
//! either in a file that is durable already, or in the newest there is.

use super::journal::{journals, next};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

pub(super) struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    pub fn open(dir: &Path) -> io::Result<Self> {
        let path = journals(dir)?.pop().ok_or(io::ErrorKind::NotFound)?;
        let file = handle(&path)?;
        Ok(Self { path, file })
    }

    pub fn sync(&mut self) -> io::Result<()> {
        while let Some(next) = next(&self.path)? {
            *self = Self { file: handle(&next)?, path: next };
        }
        self.file.sync_data()
    }
}

fn handle(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}
