//! The collector: empties extents of which less than half is alive, so that they can be used again.
//!
//! It reads the records of the extent one by one, asks the rows which of them are still in use, copies
//! those, and lets one small commit per batch say where they are now. A chunk released meanwhile is not
//! brought back: the commit moves a chunk only if its row still names the place it was copied from.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread::JoinHandle,
    time::Duration,
};

use parking_lot::{Condvar, Mutex};

use super::{
    CommitCopies, Kind, LocalExtents, Written,
    record::{self, Location, MAX_HEADER, PAGE},
    rows::{chunk_key, decode_chunk},
    store::FileExtents,
};
use crate::error::EngineError;

const BATCH_CHUNKS: usize = 64;
const BATCH_BYTES: u64 = 8 << 20;
/// How often the collector looks whether a pin is gone that keeps an empty extent.
const PIN_POLL: Duration = Duration::from_millis(500);
/// After an error (mostly a full disk) it lets some time pass.
const AFTER_ERROR: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(super) struct Collector {
    signal: Mutex<Signal>,
    wake: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
    copied: AtomicU64,
}

#[derive(Default)]
struct Signal {
    work: bool,
    stop: bool,
}

impl Collector {
    pub fn poke_if(&self, work: impl FnOnce() -> bool) {
        if work() {
            self.signal.lock().work = true;
            self.wake.notify_one();
        }
    }

    pub fn copied(&self) -> u64 {
        self.copied.load(Ordering::Relaxed)
    }

    /// Sleeps until there is work, at most so long; true when it is time to end.
    fn wait(&self, at_most: Option<Duration>) -> bool {
        let mut signal = self.signal.lock();
        if !signal.work && !signal.stop {
            match at_most {
                Some(time) => {
                    self.wake.wait_for(&mut signal, time);
                }
                None => self.wake.wait(&mut signal),
            }
        }
        signal.work = false;
        signal.stop
    }

    /// Lets time pass, work or not; true when it is time to end.
    fn pause(&self, time: Duration) -> bool {
        let end = std::time::Instant::now() + time;
        let mut signal = self.signal.lock();
        while !signal.stop {
            if self.wake.wait_until(&mut signal, end).timed_out() {
                break;
            }
        }
        signal.stop
    }

    fn stopping(&self) -> bool {
        self.signal.lock().stop
    }

    pub fn stop(&self) {
        self.signal.lock().stop = true;
        self.wake.notify_all();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// Starts the thread; it sleeps until there is something to do.
pub(super) fn start(extents: &LocalExtents, commit: CommitCopies) {
    let Kind::File(store) = &*extents.0 else { return };
    let handle = extents.clone();
    let run = move || {
        let Kind::File(store) = &*handle.0 else { return };
        let mut pause = None;
        while !store.collector.wait(pause) {
            pause = match handle.collect(&commit) {
                Ok(()) => store.extent_map.lock().has_draining().then_some(PIN_POLL),
                Err(error) => {
                    tracing::warn!(%error, "collecting extents");
                    store.collector.pause(AFTER_ERROR);
                    Some(AFTER_ERROR)
                }
            };
        }
    };
    match std::thread::Builder::new().name("lazuli-collect".into()).spawn(run) {
        Ok(thread) => *store.collector.thread.lock() = Some(thread),
        Err(error) => tracing::error!(%error, "the collector could not be started"),
    }
    // What the last run left to do.
    store.collector.poke_if(|| store.extent_map.lock().victim().is_some());
}

impl LocalExtents {
    /// Empties every extent worth it, and lets free ones go.
    pub(super) fn collect(&self, commit: &CommitCopies) -> Result<(), EngineError> {
        let Kind::File(store) = &*self.0 else { return Ok(()) };
        store.trim();
        loop {
            let victim = store.extent_map.lock().victim();
            let Some(number) = victim else { break };
            if store.collector.stopping() || store.failed().is_some() {
                break;
            }
            if store.space.seen().is_full() {
                return Err(EngineError::OutOfSpace);
            }
            self.empty(store, number, commit)?;
            store.trim();
        }
        Ok(())
    }

    fn empty(&self, store: &FileExtents, number: u64, commit: &CommitCopies) -> Result<(), EngineError> {
        let (file, end) = {
            let extent_map = store.extent_map.lock();
            let Some(extent) = extent_map.extents.get(&number) else { return Ok(()) };
            (extent.file.clone(), extent.next_page)
        };
        let mut batch = Vec::new();
        let mut bytes = 0;
        let mut page = 1;
        let mut lost = false;
        while page < end {
            let location = Location { extent: number, page };
            page += 1;
            let Some(header) = read_header(store, &file, location) else { continue };
            let row = store.lookup.get(&chunk_key(header.id))?;
            if row.map(|value| decode_chunk(&value)).transpose()? != Some(location) {
                // Garbage; its length says nothing, since younger records may lie within.
                continue;
            }
            page += record::pages(header.len) - 1;
            let Ok(payload) = store.read_there(&file, header.id, location, &(0..header.len)) else {
                lost = true;
                continue;
            };
            let (id, crc64) = store.write(&[payload], header.len, Some((header.id, location)))?;
            batch.push(self.guard((id, crc64), header.len));
            bytes += u64::from(header.len);
            if batch.len() >= BATCH_CHUNKS || bytes >= BATCH_BYTES {
                commit_batch(store, std::mem::take(&mut batch), commit)?;
                if store.collector.pause(time_for(store, std::mem::take(&mut bytes))) {
                    return Ok(());
                }
            }
        }
        commit_batch(store, batch, commit)?;
        store.collector.pause(time_for(store, bytes));
        let mut extent_map = store.extent_map.lock();
        if let Some(extent) = extent_map.extents.get_mut(&number)
            && (lost || extent.row.live_chunks > 0)
        {
            // A live chunk was not found or not readable. Trying again would not help.
            extent.damaged = true;
            tracing::error!(extent = number, "extent holds a damaged chunk and is kept as it is");
        }
        Ok(())
    }
}

fn read_header(store: &FileExtents, file: &super::file::ExtentFile, at: Location) -> Option<record::Header> {
    let handle = store.handle(file).ok()?;
    let bytes = handle.read_at(u64::from(at.page) * PAGE as u64, MAX_HEADER).ok()?;
    record::decode_header(&bytes)
}

fn commit_batch(store: &FileExtents, batch: Vec<Written>, commit: &CommitCopies) -> Result<(), EngineError> {
    if batch.is_empty() {
        return Ok(());
    }
    let ids: Vec<_> = batch.iter().map(|copy| copy.id).collect();
    store.sync(&ids)?;
    commit(ids)?;
    let bytes: u64 = batch.iter().map(|copy| u64::from(copy.len)).sum();
    store.collector.copied.fetch_add(bytes, Ordering::Relaxed);
    Ok(())
}

fn time_for(store: &FileExtents, bytes: u64) -> Duration {
    match store.options.collect_bytes_per_second {
        0 => Duration::ZERO,
        rate => Duration::from_micros(bytes.saturating_mul(1_000_000) / rate),
    }
}
