//! How many uncommitted blocks a stage has, remembered: counting them for every block would make the last of
//! 100,000 blocks as dear as a listing.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use lazuli_engine::{Reader, Scan};
use parking_lot::Mutex;

use crate::fault::Answer;
use crate::key::{self, ContentId};

/// The service refuses more uncommitted blocks than this.
pub const UNCOMMITTED_BLOCKS: usize = 100_000;
/// Stages remembered; the counts of others are taken again.
const REMEMBERED: usize = 1_024;

/// So long a full stage is believed to be full: only the end of the stage makes room, and the next one has another id.
const BELIEVED: Duration = Duration::from_secs(10);

#[derive(Default)]
pub struct StageCounts(Mutex<HashMap<ContentId, Count>>);

#[derive(Clone, Copy)]
struct Count {
    blocks: usize,
    /// When they were last counted.
    counted: Instant,
}

impl StageCounts {
    /// Whether a stage has no room for one more block.
    pub async fn is_full(&self, reader: &Reader, stage: ContentId) -> Answer<bool> {
        let known = self.0.lock().get(&stage).copied();
        match known {
            Some(count) if count.blocks < UNCOMMITTED_BLOCKS => return Ok(false),
            Some(count) if count.counted.elapsed() < BELIEVED => return Ok(true),
            _ => {}
        }
        let blocks = count(reader, stage).await?;
        self.set(stage, Count { blocks, counted: Instant::now() });
        Ok(blocks >= UNCOMMITTED_BLOCKS)
    }

    /// A block with a new id was committed.
    pub fn add(&self, stage: ContentId) {
        if let Some(count) = self.0.lock().get_mut(&stage) {
            count.blocks += 1;
        }
    }

    /// When there are too many, one is forgotten, and the others need not be counted again.
    fn set(&self, stage: ContentId, count: Count) {
        let mut counts = self.0.lock();
        if counts.len() >= REMEMBERED
            && let Some(other) = counts.keys().next().copied()
        {
            counts.remove(&other);
        }
        counts.insert(stage, count);
    }
}

/// The blocks of a stage, up to the limit. Other requests on this lane have their turn between pages.
async fn count(reader: &Reader, stage: ContentId) -> Answer<usize> {
    let (mut blocks, mut after) = (0, None);
    loop {
        let scan = Scan { after, keys_only: true, ..Scan::of(key::blocks(stage)) };
        let page = reader.scan(scan).await?;
        blocks += page.items.len();
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more || blocks >= UNCOMMITTED_BLOCKS {
            return Ok(blocks);
        }
        tokio::task::yield_now().await;
    }
}
