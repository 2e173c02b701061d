//! LocalExtents in files: writing, reading, syncing.

use std::{
    io::{self, IoSlice},
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use parking_lot::Mutex;
use rustix::io::Errno;

use super::{
    ExtentOptions, ExtentStats, Lookup, Rows,
    collect::Collector,
    extent_map::{Extent, ExtentMap, Free, Reserved, State, UnderWay},
    file::{ExtentFile, parse_file_name},
    out_of_range,
    pin::Pins,
    record::{self, IdParts, Location, PAGE},
    rows::decode_extent,
};
use crate::extents::MAX_CHUNK;
use crate::{
    error::{Corrupt, EngineError},
    host::disk::Dir,
    key::{Key, Value},
    local::space::Space,
    txn::{ChunkId, Write},
};

/// Up to here a write goes straight from the caller's thread into the page cache: that is quicker than
/// handing it to another thread.
const WRITE_AT_ONCE: usize = 128 << 10;
/// The same for a read that the page cache can answer.
const READ_AT_ONCE: usize = 256 << 10;

static ZEROS: [u8; PAGE] = [0; PAGE];

pub(super) struct FileExtents {
    pub dir: Dir,
    pub options: ExtentOptions,
    pub extent_map: Mutex<ExtentMap>,
    pub pins: Pins,
    pub lookup: Arc<dyn Rows>,
    pub collector: Collector,
    /// Held while a new extent is opened.
    pub opening: Mutex<()>,
    salt: u64,
    failed: OnceLock<&'static str>,
    clock: AtomicU64,
    pub space: Arc<Space>,
    /// Turns for reads that block: each may hold a file open that is closed for others meanwhile.
    pub reads: tokio::sync::Semaphore,
}

impl FileExtents {
    pub fn open(
        dir: Dir,
        options: ExtentOptions,
        salt: u64,
        rows: &[(Key, Value)],
        lookup: Arc<dyn Rows>,
        space: Arc<Space>,
    ) -> Result<Self, EngineError> {
        let mut files = std::collections::BTreeMap::new();
        for (name, len) in dir.list().map_err(|error| unreadable("extents", &error))? {
            if let Some(number) = parse_file_name(&name) {
                files.insert(number, (name, len));
            }
        }
        let mut extent_map = ExtentMap::new(options.writers.max(1));
        extent_map.next = files.last_key_value().map_or(0, |(&last, _)| last);
        for (key, value) in rows {
            let (number, row) = decode_extent(key, value)?;
            extent_map.next = extent_map.next.max(number);
            if row.live_chunks == 0 {
                extent_map.forget_row(number);
                continue;
            }
            let whole = u64::from(row.pages) * PAGE as u64;
            let mut extent = Extent::new(Arc::new(ExtentFile::new(number, None)), row, State::Sealed);
            match files.remove(&number) {
                Some((_, len)) if len >= whole => {}
                _ => extent.damaged = true,
            }
            if extent.damaged {
                tracing::error!(extent = number, "extent with live chunks is missing or cut short");
            }
            extent_map.extents.insert(number, extent);
        }
        extent_map.next += 1;
        // What no row speaks of holds nothing.
        for (name, len) in files.into_values() {
            let pages = u32::try_from(len / PAGE as u64).unwrap_or(u32::MAX);
            extent_map.free.push(Free { name, pages });
        }
        let reads = tokio::sync::Semaphore::new(options.open_files.max(1));
        let store = Self {
            dir,
            options,
            extent_map: Mutex::new(extent_map),
            pins: Pins::default(),
            lookup,
            collector: Collector::default(),
            opening: Mutex::new(()),
            salt,
            failed: OnceLock::new(),
            clock: AtomicU64::new(0),
            space,
            reads,
        };
        store.go_on();
        Ok(store)
    }

    /// Lanes go on in the extents with the most room left by the last run.
    fn go_on(&self) {
        let mut extent_map = self.extent_map.lock();
        let mut room: Vec<(u32, u64)> = Vec::new();
        for (&number, extent) in &extent_map.extents {
            let rest = extent.row.pages.saturating_sub(extent.next_page);
            if !extent.damaged && u64::from(rest) * 8 >= u64::from(extent.row.pages) {
                room.push((rest, number));
            }
        }
        room.sort_unstable_by(|a, b| b.cmp(a));
        for (writer, (_, number)) in room.into_iter().take(extent_map.writers.len()).enumerate() {
            extent_map.writers[writer].extent = Some(number);
            if let Some(extent) = extent_map.extents.get_mut(&number) {
                extent.state = State::Open;
            }
        }
    }

    pub fn failed(&self) -> Option<&'static str> {
        self.failed.get().copied()
    }

    /// It is not known any more what the device holds: no more writes until the store is opened again.
    pub fn fail(&self, what: &'static str, error: &io::Error) -> EngineError {
        tracing::error!(%error, what, "extents take no more writes");
        EngineError::Unavailable(self.failed.get_or_init(|| what))
    }

    fn check_failed(&self) -> Result<(), EngineError> {
        self.failed().map_or(Ok(()), |what| Err(EngineError::Unavailable(what)))
    }

    /// Without opening an extent; `None` when the chunk is large or an extent must be opened first.
    pub fn write_at_once(&self, parts: &[Bytes], len: u32) -> Option<Result<(ChunkId, u64), EngineError>> {
        if len as usize > WRITE_AT_ONCE {
            return None;
        }
        if let Err(error) = self.check_failed() {
            return Some(Err(error));
        }
        let reserved = self.extent_map.lock().reserve(len, self.salt, None).ok()?;
        Some(self.write_reserved(reserved, None, parts, len))
    }

    /// Blocks. `moves`: this is a copy of that chunk, which lies there.
    pub fn write(
        &self,
        parts: &[Bytes],
        len: u32,
        moves: Option<(ChunkId, Location)>,
    ) -> Result<(ChunkId, u64), EngineError> {
        loop {
            self.check_failed()?;
            let reserved = self.extent_map.lock().reserve(len, self.salt, moves);
            let writer = match reserved {
                Ok(reserved) => {
                    let original = moves.map(|(id, _)| id);
                    return self.write_reserved(reserved, original, parts, len);
                }
                Err(writer) => writer,
            };
            self.open_extent(writer, record::pages(len), moves.is_some())?;
        }
    }

    fn write_reserved(
        &self,
        reserved: Reserved,
        original: Option<ChunkId>,
        parts: &[Bytes],
        len: u32,
    ) -> Result<(ChunkId, u64), EngineError> {
        let crcs = record::running_crcs(parts);
        let header = record::encode_header(original.unwrap_or(reserved.id), len, &crcs);
        let padding = record::pages(len) as usize * PAGE - header.len() - len as usize;
        let mut slices = Vec::with_capacity(parts.len() + 2);
        slices.push(IoSlice::new(&header));
        slices.extend(parts.iter().map(|part| IoSlice::new(part)));
        slices.push(IoSlice::new(&ZEROS[..padding]));
        let offset = u64::from(reserved.location.page) * PAGE as u64;
        let result = self.handle(&reserved.file).and_then(|file| file.write_at(offset, &slices));
        self.extent_map.lock().finish(reserved.id, result.is_ok(), &self.pins);
        match result {
            Ok(()) => Ok((reserved.id, crcs.last().copied().unwrap_or(0))),
            Err(error) if is_full(&error) => Err(EngineError::OutOfSpace),
            Err(error) => Err(self.fail("a write to an extent failed", &error)),
        }
    }

    pub fn abandon(&self, id: ChunkId) {
        self.extent_map.lock().abandon(id, &self.pins);
        self.collector.poke_if(|| self.extent_map.lock().has_draining());
    }

    /// An open file of the extent; closes others when there are too many.
    pub fn handle(&self, file: &ExtentFile) -> io::Result<crate::host::disk::File> {
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        let (handle, opened) = file.handle(&self.dir, now)?;
        if opened {
            self.close_others(file.number);
        }
        Ok(handle)
    }

    /// Closes those that were not read for the longest time.
    pub fn close_others(&self, number: u64) {
        let extent_map = self.extent_map.lock();
        let others = extent_map.extents.values().filter(|extent| extent.file.number != number);
        let mut open: Vec<_> =
            others.filter_map(|extent| Some((extent.file.closable()?, &extent.file))).collect();
        let too_many = (open.len() + 1).saturating_sub(self.options.open_files);
        if too_many > 0 {
            open.sort_unstable_by_key(|(last_use, _)| *last_use);
            open.iter().take(too_many).for_each(|(_, file)| file.close());
        }
    }

    /// The first half of a read: `Err` holds what must be read by blocking.
    pub fn read_at_once(&self, id: ChunkId, range: Range<u32>) -> Option<Result<Bytes, EngineError>> {
        let parts = IdParts::unpack(id);
        if range.start > range.end || range.end > parts.len || parts.len as usize > MAX_CHUNK {
            return Some(Err(out_of_range(id)));
        }
        if range.is_empty() {
            return Some(Ok(Bytes::new()));
        }
        let covered = record::cover(&range, parts.len);
        if covered.len() > READ_AT_ONCE {
            return None;
        }
        let _pin = self.pins.pin();
        let (location, file) = self.locate_at_once(id, parts.home)?;
        let file = self.handle(&file).ok()?;
        let read = |at: u64, len: usize| {
            file.read_at_once(at, len).and_then(|read| read.ok_or(io::ErrorKind::WouldBlock.into()))
        };
        read_record(&read, id, location, &range).ok().flatten().map(Ok)
    }

    /// Blocks.
    pub fn read(&self, id: ChunkId, range: Range<u32>) -> Result<Bytes, EngineError> {
        let home = IdParts::unpack(id).home;
        let _pin = self.pins.pin();
        let (location, file) = self.locate(id, home)?;
        let first = self.read_there(&file, id, location, &range);
        if let Ok(bytes) = first {
            return Ok(bytes);
        }
        // A copy may be elsewhere, and the first place be waiting for its end.
        match self.locate_by_row(id) {
            Ok((now, file)) if now != location => self.read_there(&file, id, now, &range),
            _ => first,
        }
    }

    /// Blocks. The CRC-64 of the payload, from the header.
    pub fn crc64(&self, id: ChunkId) -> Result<u64, EngineError> {
        let parts = IdParts::unpack(id);
        let _pin = self.pins.pin();
        let (location, file) = self.locate(id, parts.home)?;
        let first = self.crc64_there(&file, id, location);
        match self.locate_by_row(id) {
            Ok((now, file)) if first.is_err() && now != location => self.crc64_there(&file, id, now),
            _ => first,
        }
    }

    fn crc64_there(&self, file: &ExtentFile, id: ChunkId, at: Location) -> Result<u64, EngineError> {
        let len = IdParts::unpack(id).len;
        let what = format!("header of chunk {:032x}, extent {}, page {}", id.0, at.extent, at.page);
        let file = self.handle(file).map_err(|error| unreadable(&what, &error))?;
        let bytes = file.read_at(u64::from(at.page) * PAGE as u64, record::header_len(len));
        let bytes = bytes.map_err(|error| unreadable(&what, &error))?;
        let header = record::decode_header(&bytes).filter(|header| header.id == id && header.len == len);
        let header = header.ok_or_else(|| EngineError::Corrupt(Corrupt(format!("{what}: damaged"))))?;
        Ok(header.crc64())
    }

    pub fn read_there(
        &self,
        file: &ExtentFile,
        id: ChunkId,
        location: Location,
        range: &Range<u32>,
    ) -> Result<Bytes, EngineError> {
        let damaged = |what: &str| {
            let text =
                format!("chunk {:032x}, extent {}, page {}: {what}", id.0, location.extent, location.page);
            tracing::error!("{text}");
            EngineError::Corrupt(Corrupt(text))
        };
        let file = self.handle(file).map_err(|error| damaged(&error.to_string()))?;
        match read_record(&|at, len| file.read_at(at, len).map(Bytes::from), id, location, range) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(damaged("checksum does not match")),
            Err(error) => Err(damaged(&error.to_string())),
        }
    }

    /// Blocks until the file's writes up to the ticket are durable.
    pub fn sync_file(&self, file: &ExtentFile, ticket: u64) -> Result<(), EngineError> {
        self.check_failed()?;
        file.sync(ticket, &self.dir).map_err(|error| self.fail("a sync of an extent failed", &error))
    }

    pub fn sync(&self, publish: &[ChunkId]) -> Result<(), EngineError> {
        let files = self.extent_map.lock().unsynced(publish);
        match files.as_slice() {
            [] => self.check_failed(),
            [(file, ticket)] => self.sync_file(file, *ticket),
            files => std::thread::scope(|scope| {
                let start = |(file, ticket): &(Arc<ExtentFile>, u64)| {
                    let (file, ticket) = (file.clone(), *ticket);
                    scope.spawn(move || self.sync_file(&file, ticket))
                };
                let threads: Vec<_> = files.iter().map(start).collect();
                let mut result = Ok(());
                for thread in threads {
                    let ended = thread.join().unwrap_or(Err(EngineError::Unavailable("a sync ended early")));
                    result = result.and(ended);
                }
                result
            }),
        }
    }

    pub fn rows(
        &self,
        publish: &[ChunkId],
        release: &[ChunkId],
        lookup: Lookup<'_>,
    ) -> Result<(Vec<Write>, UnderWay), EngineError> {
        if publish.is_empty() && release.is_empty() {
            return Ok((Vec::new(), UnderWay::default()));
        }
        self.extent_map.lock().rows(publish, release, lookup)
    }

    pub fn committed(&self, publish: &[ChunkId], under_way: UnderWay) {
        let work = {
            let mut extent_map = self.extent_map.lock();
            extent_map.committed(publish, under_way, &self.pins);
            extent_map.has_draining() || extent_map.victim().is_some()
        };
        self.collector.poke_if(|| work);
    }

    pub fn stats(&self) -> ExtentStats {
        let extent_map = self.extent_map.lock();
        let bytes = |pages: u64| pages * PAGE as u64;
        let free: u64 = extent_map.free.iter().map(|free| u64::from(free.pages)).sum();
        let used: u64 = extent_map.extents.values().map(|extent| u64::from(extent.row.pages)).sum();
        let live: u64 = extent_map.extents.values().map(|extent| u64::from(extent.row.live_pages)).sum();
        ExtentStats {
            extents: extent_map.extents.len() as u64,
            free_extents: extent_map.free.len() as u64,
            damaged_extents: extent_map.extents.values().filter(|extent| extent.damaged).count() as u64,
            live_bytes: bytes(live),
            total_bytes: bytes(used + free),
            pending_chunks: extent_map.pending_chunks() as u64,
            collected_bytes: self.collector.copied(),
        }
    }
}

type ReadAt<'a> = &'a dyn Fn(u64, usize) -> io::Result<Bytes>;

/// Header and sub-blocks of a record; `Ok(None)` when they are not what was written.
fn read_record(
    read: ReadAt<'_>,
    id: ChunkId,
    location: Location,
    range: &Range<u32>,
) -> io::Result<Option<Bytes>> {
    let len = IdParts::unpack(id).len;
    let covered = record::cover(range, len);
    let start = u64::from(location.page) * PAGE as u64;
    let header_len = record::header_len(len);
    let (head, body) = if covered.start == 0 {
        let both = read(start, header_len + covered.end as usize)?;
        (both.slice(..header_len), both.slice(header_len..))
    } else {
        let body = start + header_len as u64 + u64::from(covered.start);
        (read(start, header_len)?, read(body, covered.len())?)
    };
    let Some(header) = record::decode_header(&head) else { return Ok(None) };
    if header.id != id || header.len != len || !header.verify(&covered, &body) {
        return Ok(None);
    }
    let from = (range.start - covered.start) as usize;
    Ok(Some(body.slice(from..from + range.len())))
}

pub(super) fn is_full(error: &io::Error) -> bool {
    let errno = error.raw_os_error();
    errno == Some(Errno::NOSPC.raw_os_error()) || errno == Some(Errno::DQUOT.raw_os_error())
}

fn unreadable(what: &str, error: &io::Error) -> EngineError {
    EngineError::Corrupt(Corrupt(format!("{what}: {error}")))
}
