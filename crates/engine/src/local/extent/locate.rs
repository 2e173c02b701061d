//! Where a chunk lies.

use super::{
    file::ExtentFile,
    gone,
    record::Location,
    rows::{chunk_key, decode_chunk},
    store::FileExtents,
};
use crate::{error::EngineError, key::Value, txn::ChunkId};
use std::sync::Arc;

impl FileExtents {
    /// Where a chunk is now: where it was written first unless that extent is gone.
    pub fn locate(&self, id: ChunkId, home: Location) -> Result<(Location, Arc<ExtentFile>), EngineError> {
        self.locate_at_home(home).map_or_else(|| self.locate_by_row(id), Ok)
    }

    /// `None` when that may have to wait for a disk, or fails.
    pub fn locate_at_once(&self, id: ChunkId, home: Location) -> Option<(Location, Arc<ExtentFile>)> {
        self.locate_at_home(home).or_else(|| {
            let row = self.lookup.get_at_once(&chunk_key(id))?.ok()?;
            self.locate_as_told(id, row).ok()
        })
    }

    fn locate_at_home(&self, home: Location) -> Option<(Location, Arc<ExtentFile>)> {
        let extent_map = self.extent_map.lock();
        extent_map.extents.get(&home.extent).map(|extent| (home, extent.file.clone()))
    }

    pub fn locate_by_row(&self, id: ChunkId) -> Result<(Location, Arc<ExtentFile>), EngineError> {
        let row = self.lookup.get(&chunk_key(id))?;
        self.locate_as_told(id, row)
    }

    fn locate_as_told(
        &self,
        id: ChunkId,
        row: Option<Value>,
    ) -> Result<(Location, Arc<ExtentFile>), EngineError> {
        let location = row.map(|value| decode_chunk(&value)).transpose()?;
        let extent_map = self.extent_map.lock();
        let location = location.or_else(|| extent_map.moved_then_released(id)).ok_or_else(|| gone(id))?;
        let extent = extent_map.extents.get(&location.extent).ok_or_else(|| gone(id))?;
        Ok((location, extent.file.clone()))
    }
}
