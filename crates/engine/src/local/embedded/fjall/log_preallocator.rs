//! Zeros ahead of the log's end, so that a sync finds its blocks allocated and written.
//!
//! fjall makes its log with a length, but without blocks. Each sync would wait for the file system's own journal,
//! which records the blocks that the bytes were put into: about half of the time that it takes. So some room
//! behind the end is filled with zeros beforehand, and one sync pays for many after it.
//!
//! Never over anything written: it begins at the first hole of the file, looks again whether nothing stands
//! there, and the caller keeps the log from being written meanwhile. Never behind the file's end: a log that
//! was opened again is appended to, and zeros there would stand between its batches. What is filled read as zeros
//! before, so the log means the same at any moment, and failing to fill it costs speed and nothing else.

use rustix::fs::SeekFrom;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// So much at a time: enough for many groups, not so much that a sync takes long.
const STEP: usize = 512 << 10;
static ZEROS: [u8; STEP] = [0; STEP];

pub(crate) struct LogPreallocator {
    path: Arc<Path>,
    file: File,
    found: Vec<u8>,
    /// Nothing before this is a hole.
    from: u64,
    /// Filled, and not yet written to.
    room: u64,
    /// There is nothing more to fill in this file.
    full: bool,
}

impl LogPreallocator {
    pub fn of(path: Arc<Path>) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        Ok(Self { path, file, found: Vec::new(), from: 0, room: 0, full: false })
    }

    /// Makes room for so many bytes in the newest file. The caller lets no thread write to the log before it returns. A file that is
    /// no longer the newest is filled in vain, and with no harm.
    pub fn make_room(&mut self, bytes: u64, newest: &Arc<Path>) {
        let made = self.try_make_room(bytes, newest);
        if let Err(error) = made {
            tracing::debug!(%error, "no room was made ahead of the log");
            self.full = true;
        }
    }

    fn try_make_room(&mut self, bytes: u64, newest: &Arc<Path>) -> io::Result<()> {
        if self.path != *newest {
            *self = Self::of(newest.clone())?;
        }
        while self.room < bytes && !self.full {
            let filled = self.fill()?;
            self.full = filled == 0;
            self.room += filled;
        }
        self.room = self.room.saturating_sub(bytes);
        Ok(())
    }

    /// Gives how many bytes were filled; none when there is no hole, or something stands in it.
    fn fill(&mut self) -> io::Result<u64> {
        let end = self.file.metadata()?.len();
        let hole = rustix::fs::seek(&self.file, SeekFrom::Hole(self.from))?;
        let len = end.saturating_sub(hole).min(STEP as u64) as usize;
        // Some file systems have been known to take what was not yet on disk for a hole.
        self.found.resize(STEP, 0);
        let found = &mut self.found[..len];
        self.file.read_exact_at(found, hole)?;
        if found != &ZEROS[..len] {
            return Ok(0);
        }
        self.file.write_all_at(found, hole)?;
        self.from = hole + len as u64;
        Ok(len as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    const LEN: u64 = 2 << 20;

    fn log(bytes: &[u8], len: u64) -> (tempfile::TempDir, LogPreallocator) {
        let dir = tempfile::tempdir().expect("a directory");
        let file = File::create(dir.path().join("7.jnl")).expect("a file");
        file.write_all_at(bytes, 0).expect("writes");
        file.set_len(len).expect("a length");
        let ahead = LogPreallocator::of(dir.path().join("7.jnl").into()).expect("opens");
        (dir, ahead)
    }

    fn make_room(ahead: &mut LogPreallocator, bytes: u64) {
        let newest = ahead.path.clone();
        ahead.make_room(bytes, &newest);
    }

    fn content(ahead: &LogPreallocator) -> Vec<u8> {
        std::fs::read(&ahead.path).expect("reads")
    }

    fn allocated(ahead: &LogPreallocator) -> u64 {
        ahead.file.sync_all().expect("syncs");
        ahead.file.metadata().expect("metadata").blocks() * 512
    }

    #[test]
    fn the_log_reads_the_same_and_has_blocks() {
        let (_dir, mut ahead) = log(&[7; 5_000], LEN);
        let before = content(&ahead);
        assert!(allocated(&ahead) < 64 << 10);
        make_room(&mut ahead, 1_000);
        assert_eq!(content(&ahead), before);
        assert!((STEP as u64..1 << 20).contains(&allocated(&ahead)));
        make_room(&mut ahead, STEP as u64 - 1_000);
        assert!(allocated(&ahead) < 1 << 20, "there was room");
        make_room(&mut ahead, 1);
        assert!(allocated(&ahead) > 1 << 20);
        // As far as the file goes, and no farther.
        make_room(&mut ahead, 100 << 20);
        assert_eq!(content(&ahead), before);
        assert!(ahead.full && allocated(&ahead) >= LEN);
    }

    #[test]
    fn a_log_that_is_appended_to_is_left_alone() {
        let (_dir, mut ahead) = log(&[7; 5_000], 5_000);
        make_room(&mut ahead, 1_000);
        assert_eq!(content(&ahead), [7; 5_000]);
        assert!(ahead.full);
    }

    #[test]
    fn goes_on_in_the_next_file() {
        let (dir, mut ahead) = log(&[7; 5_000], 5_000);
        make_room(&mut ahead, 1_000);
        let file = File::create(dir.path().join("8.jnl")).expect("a file");
        file.write_all_at(&[8; 9_000], 0).expect("writes");
        file.set_len(LEN).expect("a length");
        ahead.make_room(1_000, &dir.path().join("8.jnl").into());
        assert_eq!(content(&ahead)[..9_001], [&[8; 9_000][..], &[0]].concat());
        assert!(allocated(&ahead) > STEP as u64);
    }
}
