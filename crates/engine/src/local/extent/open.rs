//! Where a writer gets its next extent from: a free one, or a new file. Here, and only here, a full disk is met.

use std::{io::IoSlice, sync::Arc};

use super::{
    extent_map::{Extent, Free, State},
    file::{ExtentFile, file_name},
    record::{EXTENT_MAGIC, MAX_EXTENT_NUMBER, MAX_EXTENT_PAGES, PAGE},
    rows::ExtentRow,
    store::{FileExtents, is_full},
};
use crate::{error::EngineError, host::disk::File};

impl FileExtents {
    /// Gives the writer an extent with room for `needed` pages. The collector may use up half of the reserve:
    /// it is about to give back more.
    pub fn open_extent(&self, writer: usize, needed: u32, collector: bool) -> Result<(), EngineError> {
        let _opening = self.opening.lock();
        let (number, free) = {
            let mut extent_map = self.extent_map.lock();
            if has_room(
                &extent_map.writers[writer].extent.and_then(|number| extent_map.extents.get(&number)),
                needed,
            ) {
                return Ok(());
            }
            extent_map.reclaim(&self.pins);
            let number = extent_map.next;
            if number > MAX_EXTENT_NUMBER {
                return Err(EngineError::Unavailable("extent numbers are used up"));
            }
            extent_map.next += 1;
            let fits = extent_map.free.iter().position(|free| free.pages > needed);
            (number, fits.map(|index| extent_map.free.swap_remove(index)))
        };
        let (file, pages) = match free {
            Some(free) => self.reuse(number, free)?,
            None => self.create(number, needed, collector)?,
        };
        self.write_extent_header(&file, number, pages)?;
        // Only now may rows speak of the file.
        self.dir.sync().map_err(|error| self.fail("a sync of the extents' directory failed", &error))?;
        let row = ExtentRow { pages, used: 1, ..ExtentRow::default() };
        let extent = Extent::new(Arc::new(ExtentFile::new(number, Some(file))), row, State::Open);
        self.extent_map.lock().install(writer, extent, &self.pins);
        self.trim();
        self.sync_left()?;
        self.close_others(number);
        Ok(())
    }

    /// Only synced files can be closed. No writer writes to these any more, and the commits that publish their chunks
    /// would sync them a moment later.
    fn sync_left(&self) -> Result<(), EngineError> {
        let left = self.extent_map.lock().left_unsynced();
        left.into_iter().try_for_each(|(file, ticket)| self.sync_file(&file, ticket))
    }

    fn reuse(&self, number: u64, free: Free) -> Result<(File, u32), EngineError> {
        let name = file_name(number);
        let opened = self.dir.rename(&free.name, &name).and_then(|()| self.dir.open(&name));
        let file = opened.map_err(|error| self.fail("an extent could not be reused", &error))?;
        Ok((file, free.pages))
    }

    fn create(&self, number: u64, needed: u32, collector: bool) -> Result<(File, u32), EngineError> {
        let least = (u64::from(needed) + 1) * PAGE as u64;
        let smallest = self.options.first_extent_bytes.max(least);
        let mut size = self.next_size().max(least);
        let name = file_name(number);
        loop {
            let seen = self.space.look();
            if seen.available >= size.saturating_add(seen.kept(collector)) {
                let file = match self.dir.create(&name) {
                    Ok(file) => file,
                    Err(error) if is_full(&error) => return Err(EngineError::OutOfSpace),
                    Err(error) => return Err(self.fail("an extent could not be created", &error)),
                };
                match file.allocate(size) {
                    Ok(()) => return Ok((file, (size / PAGE as u64) as u32)),
                    Err(error) if is_full(&error) => {
                        if let Err(error) = self.dir.remove(&name) {
                            return Err(self.fail("an extent could not be removed", &error));
                        }
                    }
                    Err(error) => return Err(self.fail("an extent could not be allocated", &error)),
                }
            }
            if size <= smallest {
                return Err(EngineError::OutOfSpace);
            }
            size = (size / 2).max(smallest);
        }
    }

    /// Small while there is little, so that an empty store stays small.
    fn next_size(&self) -> u64 {
        let half = self.stats().total_bytes / 2;
        let power = if half == 0 { 0 } else { 1 << half.ilog2() };
        let most = self.options.extent_bytes.min((MAX_EXTENT_PAGES - 1) * PAGE as u64);
        let size = power.max(self.options.first_extent_bytes).min(most);
        size / PAGE as u64 * PAGE as u64
    }

    /// For people and repair tools; nothing here ever reads it.
    fn write_extent_header(&self, file: &File, number: u64, pages: u32) -> Result<(), EngineError> {
        let mut header = EXTENT_MAGIC.to_vec();
        header.extend_from_slice(&1u32.to_le_bytes());
        header.extend_from_slice(&pages.to_le_bytes());
        header.extend_from_slice(&number.to_le_bytes());
        let crc = crate::crc::crc64(&header);
        header.extend_from_slice(&crc.to_le_bytes());
        header.resize(PAGE, 0);
        match file.write_at(0, &[IoSlice::new(&header)]) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.fail("a write to an extent failed", &error)),
        }
    }

    /// Gives free extents back to the file system, all but a few.
    pub fn trim(&self) {
        loop {
            let name = {
                let mut extent_map = self.extent_map.lock();
                extent_map.reclaim(&self.pins);
                extent_map.free.sort_unstable_by_key(|free| free.pages);
                let useless = extent_map.free.first().is_some_and(|free| free.pages < 2);
                if !useless && extent_map.free.len() <= self.options.spare_extents {
                    return;
                }
                extent_map.free.remove(0).name
            };
            // No row points to the bytes: a name left behind is found again at the next opening.
            if let Err(error) = self.dir.remove(&name) {
                tracing::warn!(%error, name, "an empty extent could not be removed");
                return;
            }
        }
    }
}

fn has_room(extent: &Option<&Extent>, needed: u32) -> bool {
    extent
        .is_some_and(|extent| u64::from(extent.next_page) + u64::from(needed) <= u64::from(extent.row.pages))
}
