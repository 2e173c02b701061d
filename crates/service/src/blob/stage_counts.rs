//! How many uncommitted blocks a stage has, remembered: counting them for every block would make the last of
//! 100,000 blocks as dear as a listing.

use std::collections::HashMap;

use lazuli_engine::{Reader, Scan};
use parking_lot::Mutex;

use crate::fault::Answer;
use crate::key::{self, ContentId};

/// The service refuses more uncommitted blocks than this.
pub const UNCOMMITTED_BLOCKS: usize = 100_000;
/// Stages remembered; the counts of others are taken again.
const REMEMBERED: usize = 1_024;

#[derive(Default)]
pub struct StageCounts(Mutex<HashMap<ContentId, usize>>);

impl StageCounts {
    /// Whether a stage has no room for one more block. Exact when the memory says that it is near the limit.
    pub async fn is_full(&self, reader: &Reader, stage: ContentId) -> Answer<bool> {
        let known = self.0.lock().get(&stage).copied();
        if known.is_some_and(|count| count < UNCOMMITTED_BLOCKS) {
            return Ok(false);
        }
        let limit = UNCOMMITTED_BLOCKS + 1;
        let scan = Scan { limit, max_bytes: 64 << 20, keys_only: true, ..Scan::of(key::blocks(stage)) };
        let count = reader.scan(scan).await?.items.len();
        self.set(stage, count);
        Ok(count >= UNCOMMITTED_BLOCKS)
    }

    /// A block with a new id was committed.
    pub fn add(&self, stage: ContentId) {
        if let Some(count) = self.0.lock().get_mut(&stage) {
            *count += 1;
        }
    }

    fn set(&self, stage: ContentId, count: usize) {
        let mut counts = self.0.lock();
        if counts.len() >= REMEMBERED {
            counts.clear();
        }
        counts.insert(stage, count);
    }
}
