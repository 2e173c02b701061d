//! One extent's file: opened when needed, one sync serves all callers that wait.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;

use crate::host::disk::{Dir, File};

pub(super) struct ExtentFile {
    pub number: u64,
    pub name: String,
    handle: Mutex<Option<File>>,
    /// Writes finished, and how many of them are known to be durable.
    written: AtomicU64,
    synced: AtomicU64,
    /// Held during a sync: a caller that waited for it often finds its own writes synced, too. True once a sync failed:
    /// the system tells of a failed write once, and a later sync would succeed without it.
    syncing: Mutex<bool>,
    /// When it was last read, for the choice of what to close.
    last_use: AtomicU64,
}

pub(super) fn file_name(number: u64) -> String {
    format!("{number:016x}.x")
}

pub(super) fn parse_file_name(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".x").filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

impl ExtentFile {
    pub fn new(number: u64, handle: Option<File>) -> Self {
        Self {
            number,
            name: file_name(number),
            handle: Mutex::new(handle),
            written: AtomicU64::new(0),
            synced: AtomicU64::new(0),
            syncing: Mutex::new(false),
            last_use: AtomicU64::new(0),
        }
    }

    /// The open file, and whether it had to be opened.
    pub fn handle(&self, dir: &Dir, now: u64) -> io::Result<(File, bool)> {
        self.last_use.store(now, Ordering::Relaxed);
        let mut handle = self.handle.lock();
        match &*handle {
            Some(file) => Ok((file.clone(), false)),
            None => {
                let file = dir.open(&self.name)?;
                *handle = Some(file.clone());
                Ok((file, true))
            }
        }
    }

    /// When it was last used, if it is open and may be closed: only the handle that wrote is sure to be
    /// told of a failed write-back.
    pub fn closable(&self) -> Option<u64> {
        let open = self.handle.lock().is_some();
        (open && !self.dirty()).then(|| self.last_use.load(Ordering::Relaxed))
    }

    pub fn close(&self) {
        *self.handle.lock() = None;
    }

    fn dirty(&self) -> bool {
        self.written.load(Ordering::Acquire) != self.synced.load(Ordering::Acquire)
    }

    /// The ticket of the last write, when it is not synced.
    pub fn unsynced(&self) -> Option<u64> {
        self.dirty().then(|| self.written.load(Ordering::Acquire))
    }

    /// A write has ended; the ticket says which sync covers it.
    pub fn wrote(&self) -> u64 {
        self.written.fetch_add(1, Ordering::AcqRel) + 1
    }

    pub fn is_synced(&self, ticket: u64) -> bool {
        self.synced.load(Ordering::Acquire) >= ticket
    }

    /// Makes the write with this ticket durable, and with it all that ended before now.
    pub fn sync(&self, ticket: u64, dir: &Dir) -> io::Result<()> {
        if self.is_synced(ticket) {
            return Ok(());
        }
        let mut failed = self.syncing.lock();
        if self.is_synced(ticket) {
            return Ok(());
        }
        let covered = self.written.load(Ordering::Acquire);
        let (file, _) = self.handle(dir, self.last_use.load(Ordering::Relaxed))?;
        if *failed {
            return Err(io::Error::other("an earlier sync of the file failed"));
        }
        *failed = true;
        file.sync()?;
        *failed = false;
        self.synced.store(covered, Ordering::Release);
        Ok(())
    }
}
