//! The bytes of an open file.

use std::ops::Range;
use std::sync::atomic::Ordering;

use bytes::{Bytes, BytesMut};
use lazuli_model::admission::caching::Act;

use super::attempt::Step;
use super::info::CLUSTER;
use super::{AccessMask, OpenFile, Outcome, Refusal};
use crate::download::{Download, Origin};
use crate::store::share::FileWrite;
use crate::store::{Sealing, Turn};
use crate::upload::{Uploaded, upload_pages};
use crate::{Body, Services};

/// The longest that a file can be.
const LONGEST: u64 = 4 << 40;
/// The most that one write brings.
const WRITE_LIMIT: u64 = 16 << 20;
const READING: AccessMask = AccessMask::READ_DATA.and(AccessMask::EXECUTE);
const WRITING: AccessMask = AccessMask::WRITE_DATA.and(AccessMask::APPEND_DATA);

impl OpenFile {
    /// Up to `length` bytes from `offset` on, as parts of one run; fewer at the end of the file, [`Refusal::EndOfFile`] behind it.
    pub async fn read(&self, offset: u64, length: u32) -> Outcome<Vec<Bytes>> {
        self.needs(READING)?;
        self.is_file()?;
        loop {
            match self.read_once(offset, length).await? {
                Some(parts) => return Ok(parts),
                None => self.break_others(Act::Read).await?,
            }
        }
    }

    /// None where another client has bytes in its memory that it has not written yet.
    async fn read_once(&self, offset: u64, length: u32) -> Outcome<Option<Vec<Bytes>>> {
        let services = self.client().services();
        let active = services.readers().enter();
        let view = services.view(self.client().context()).await?;
        let opened = view.opened(self.key()).await?;
        opened.check_locks(false, offset, u64::from(length))?;
        if !opened.breaks(Act::Read).is_empty() {
            return Ok(None);
        }
        let file = opened.record.file().ok_or(Refusal::InvalidDeviceRequest)?;
        let end = offset.saturating_add(u64::from(length)).min(file.content.length);
        if length == 0 {
            return Ok(Some(Vec::new()));
        }
        if offset >= file.content.length {
            return Err(Refusal::EndOfFile);
        }
        let (content, wanted) = (&file.content, offset..end);
        let mut download =
            Download::open(services, active, &view, content, wanted, None, Origin::AtOnce).await?;
        // What it still needs of the snapshot it holds itself.
        drop((opened, view));
        let mut parts = Vec::new();
        while let Some(part) = download.next().await {
            parts.push(part?);
        }
        Ok(Some(parts))
    }

    /// All of it, on stable storage before this answers. The file grows as far as it is needed.
    pub async fn write(&self, offset: u64, bytes: Bytes) -> Outcome<()> {
        self.needs(WRITING)?;
        self.is_file()?;
        self.writable()?;
        let length = bytes.len() as u64;
        let end = offset.checked_add(length).ok_or(Refusal::InvalidParameter)?;
        if end > LONGEST {
            return Err(Refusal::DiskFull);
        }
        if length == 0 {
            return Ok(());
        }
        let uploaded = store(self.client().services(), bytes).await?;
        let (keeps_last_written, keeps_changed) = self.kept_times();
        let write = FileWrite {
            context: self.client().context().clone(),
            key: self.key().clone(),
            offset,
            uploaded,
            appends: !self.granted_access().has(AccessMask::WRITE_DATA),
            keeps_last_written,
            keeps_changed,
        };
        match self.client().services().write_in_line(write).await {
            Turn::Done(outcome) => outcome,
            Turn::Alone(write) => self.write_alone(&write).await,
        }
    }

    /// As often as others have to be waited for.
    async fn write_alone(&self, write: &FileWrite) -> Outcome<()> {
        let (range, uploaded) = (&write.range(), &write.uploaded);
        self.work(|unit| async move {
            let mut opened = unit.opened(self.key()).await?;
            opened.check_locks(true, range.start, range.end - range.start)?;
            if write.appends && range.start < opened.record.length() {
                return Err(Refusal::AccessDenied);
            }
            if opened.must_wait(Act::Write).await? {
                return Ok(Step::Wait);
            }
            let mut file = opened.present();
            self.note_write(&mut file.record, unit.now());
            file.write_and_grow(range.start, uploaded).await?;
            Ok(Step::Done(()))
        })
        .await
    }

    /// Nothing is left to be written here: every write is durable when it is answered.
    pub async fn flush(&self) -> Outcome<()> {
        if self.key().snapshot.is_none() {
            self.needs(WRITING)?;
        }
        let view = self.client().services().view(self.client().context()).await?;
        view.opened(self.key()).await.map(drop)
    }

    pub async fn set_end_of_file(&self, length: u64) -> Outcome<()> {
        self.needs(AccessMask::WRITE_DATA)?;
        self.is_file()?;
        self.writable()?;
        if length > LONGEST {
            return Err(Refusal::DiskFull);
        }
        self.aside().store(0, Ordering::Relaxed);
        self.resize(move |_| length).await
    }

    /// Cuts the file off where it is longer. Nothing is set aside, but this client is told so.
    pub async fn set_allocation(&self, size: u64) -> Outcome<()> {
        self.needs(AccessMask::WRITE_DATA)?;
        self.is_file()?;
        self.writable()?;
        if size > LONGEST {
            return Err(Refusal::DiskFull);
        }
        self.resize(move |length| length.min(size)).await?;
        self.aside().store(size.next_multiple_of(CLUSTER), Ordering::Relaxed);
        Ok(())
    }

    async fn resize(&self, new: impl Fn(u64) -> u64 + Send + Sync) -> Outcome<()> {
        let new = &new;
        self.work(|unit| async move {
            let mut opened = unit.opened(self.key()).await?;
            let old = opened.record.length();
            let length = new(old);
            // What is cut off, or comes, must not be locked.
            let (from, to) = (old.min(length), old.max(length));
            opened.check_locks(true, from, to - from)?;
            if opened.must_wait(Act::Write).await? {
                return Ok(Step::Wait);
            }
            let mut file = opened.present();
            if length != old {
                self.note_write(&mut file.record, unit.now());
                file.resize(length).await?;
            }
            Ok(Step::Done(()))
        })
        .await
    }

    /// `FSCTL_SET_ZERO_DATA`: the range reads as zeros, up to the end of the file.
    pub async fn zero_range(&self, range: Range<u64>) -> Outcome<()> {
        self.needs(AccessMask::WRITE_DATA)?;
        self.is_file()?;
        self.writable()?;
        if range.start > range.end {
            return Err(Refusal::InvalidParameter);
        }
        let range = &range;
        self.work(|unit| async move {
            let mut opened = unit.opened(self.key()).await?;
            opened.check_locks(true, range.start, range.end - range.start)?;
            if opened.must_wait(Act::Write).await? {
                return Ok(Step::Wait);
            }
            let end = range.end.min(opened.record.length());
            let mut file = opened.present();
            if range.start < end {
                self.note_write(&mut file.record, unit.now());
                file.clear_range(range.start..end).await?;
            }
            Ok(Step::Done(()))
        })
        .await
    }

    /// `FSCTL_QUERY_ALLOCATED_RANGES`: the first `limit` parts of the range in which bytes were written, and whether there are more.
    pub async fn allocated_ranges(
        &self,
        range: Range<u64>,
        limit: usize,
    ) -> Outcome<(Vec<Range<u64>>, bool)> {
        self.needs(READING)?;
        self.is_file()?;
        if range.start > range.end {
            return Err(Refusal::InvalidParameter);
        }
        let view = self.client().services().view(self.client().context()).await?;
        let opened = view.opened(self.key()).await?;
        let found = view.file_ranges(&opened.record, None, range, limit.max(1)).await?;
        let ranges = found.ranges.iter().map(|range| range.start..range.end).collect();
        Ok((ranges, found.next.is_some()))
    }

    /// `FSCTL_SRV_COPYCHUNK`: bytes of a file of the same account to `to` in this one; tells how many.
    pub async fn copy_from(&self, source: &OpenFile, from: u64, to: u64, length: u32) -> Outcome<u32> {
        self.needs(AccessMask::WRITE_DATA)?;
        let parts = source.read(from, length).await?;
        let found: usize = parts.iter().map(Bytes::len).sum();
        // A source that is too short is refused as a whole.
        if found < length as usize {
            return Err(Refusal::InvalidParameter);
        }
        let mut bytes = BytesMut::with_capacity(found);
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        self.write(to, bytes.freeze()).await?;
        Ok(length)
    }

    fn is_file(&self) -> Outcome<()> {
        if self.is_directory() { Err(Refusal::InvalidDeviceRequest) } else { Ok(()) }
    }
}

/// The bytes are written before it is known whether they may become part of the file.
async fn store(services: &Services, bytes: Bytes) -> Outcome<Uploaded> {
    Ok(upload_pages(services, Body::from(bytes), WRITE_LIMIT, false, &Sealing::default()).await?)
}
