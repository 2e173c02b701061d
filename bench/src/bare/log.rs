//! One file that only grows, and one thread that writes whatever waits and syncs once.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::path::Path;
use std::sync::mpsc;

use bytes::Bytes;
use tokio::sync::oneshot;

struct Entry {
    parts: Vec<Bytes>,
    synced: oneshot::Sender<bool>,
}

#[derive(Clone)]
pub struct Log {
    waiting: mpsc::Sender<Entry>,
}

impl Log {
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        let (waiting, entries) = mpsc::channel();
        std::thread::Builder::new().name("log".to_owned()).spawn(move || commit(file, &entries))?;
        Ok(Self { waiting })
    }

    pub async fn append(&self, parts: Vec<Bytes>) -> bool {
        let (synced, done) = oneshot::channel();
        self.waiting.send(Entry { parts, synced }).is_ok() && done.await.unwrap_or(false)
    }
}

fn commit(mut file: File, entries: &mpsc::Receiver<Entry>) {
    while let Ok(first) = entries.recv() {
        let mut group = vec![first];
        group.extend(entries.try_iter());
        let written = write(&mut file, &group).and_then(|()| file.sync_data()).is_ok();
        for entry in group {
            // Who no longer waits has gone away.
            let _ = entry.synced.send(written);
        }
    }
}

fn write(file: &mut File, group: &[Entry]) -> io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> =
        group.iter().flat_map(|entry| &entry.parts).map(|part| IoSlice::new(part)).collect();
    let mut left = slices.as_mut_slice();
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        let written = file.write_vectored(left)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        IoSlice::advance_slices(&mut left, written);
    }
    Ok(())
}
