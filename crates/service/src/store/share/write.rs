//! Writes into one file that go with one commit: each is judged by itself, as if it came alone.

use std::ops::Range;

use lazuli_model::admission::caching::Act;
use lazuli_model::smb::FileAttributes;

use super::opened::{OpenKey, Opened};
use crate::Context;
use crate::open_file::{Outcome, Refusal};
use crate::store::sparse;
use crate::store::unit::Unit;
use crate::store::upload::Uploaded;

/// Bytes for a file, through an open of it.
pub(crate) struct FileWrite {
    pub context: Context,
    pub key: OpenKey,
    pub offset: u64,
    pub uploaded: Uploaded,
    /// The open may add to the end and nowhere else.
    pub appends: bool,
    pub keeps_last_written: bool,
    pub keeps_changed: bool,
}

impl FileWrite {
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.uploaded.length)
    }
}

impl Unit {
    /// Writes into one file that lie apart from one another. For each whether it is done; false for one that has to wait for others,
    /// which it does alone.
    pub(in crate::store) async fn write_file(&self, writes: &[FileWrite]) -> Outcome<Vec<Outcome<bool>>> {
        let Some(first) = writes.first() else { return Ok(Vec::new()) };
        let mut opened = self.opened_by_any(&first.key).await?;
        let mut told = Vec::with_capacity(writes.len());
        let mut taken: Vec<&FileWrite> = Vec::new();
        for write in writes {
            let judged = opened.judge(write);
            if matches!(judged, Ok(true)) {
                taken.push(write);
            }
            told.push(judged);
        }
        if taken.is_empty() {
            return Ok(told);
        }
        taken.sort_by_key(|write| write.offset);
        let now = self.now();
        let mut file = opened.present();
        let record = &mut file.record.record;
        record.attributes |= FileAttributes::ARCHIVE.bits();
        if taken.iter().any(|write| !write.keeps_last_written) {
            record.times.last_written = now;
        }
        if taken.iter().any(|write| !write.keeps_changed) {
            record.times.changed = now;
        }
        let body = record.file_mut().ok_or(Refusal::InvalidDeviceRequest)?;
        let ranges: Vec<Range<u64>> = taken.iter().map(|write| write.range()).collect();
        let end = ranges.last().map_or(0, |last| last.end);
        body.content.length = body.content.length.max(end);
        let intervals: Vec<_> =
            taken.iter().flat_map(|write| sparse::intervals(write.offset, &write.uploaded)).collect();
        file.overwrite_all(&ranges, &intervals).await?;
        for write in taken {
            self.publish(write.uploaded.chunks());
        }
        file.put().await?;
        Ok(told)
    }
}

impl Opened<lazuli_model::operation::Writes> {
    fn judge(&mut self, write: &FileWrite) -> Outcome<bool> {
        self.handle = write.key.handle;
        if self.own().is_none() {
            return Err(Refusal::FileClosed);
        }
        let range = write.range();
        self.check_locks(true, range.start, range.end - range.start)?;
        if write.appends && range.start < self.record.length() {
            return Err(Refusal::AccessDenied);
        }
        let breaks = self.breaks(Act::Write);
        if breaks.iter().any(|(_, change)| change.waits) {
            return Ok(false);
        }
        if let Some(handle) = self.rows.apply(&breaks, self.unit.now()).disconnected {
            self.rows.give_up(handle);
        }
        Ok(true)
    }
}
