//! How many uncommitted blocks a stage has, remembered: counting them for every block would make the last of
//! 100,000 blocks as dear as a listing.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use lazuli_engine::{Reader, Scan};
use parking_lot::Mutex;

use crate::fault::Answer;
use crate::store::key::{self, ContentId};

/// The service refuses more uncommitted blocks than this.
pub const UNCOMMITTED_BLOCKS: usize = 100_000;
/// Stages remembered; the counts of others are taken again.
const REMEMBERED: usize = 1_024;

/// So long a count is believed: other servers add blocks too. Of a full stage it stays right, for only the end of the
/// stage makes room, and the next one has another id.
const BELIEVED: Duration = Duration::from_secs(10);
/// And for so many blocks that this server adds: each of the others adds no more before it counts again.
const ADDED: usize = 4_096;

#[derive(Default)]
pub struct StageCounts(Mutex<HashMap<ContentId, Count>>);

#[derive(Clone, Copy)]
struct Count {
    blocks: usize,
    /// Since they were counted, by this server.
    added: usize,
    /// When they were last counted.
    counted: Instant,
}

impl Count {
    fn is_good(&self) -> bool {
        self.added < ADDED && self.counted.elapsed() < BELIEVED
    }
}

impl StageCounts {
    /// Whether a stage has no room for one more block.
    pub async fn is_full(&self, reader: &Reader, stage: ContentId) -> Answer<bool> {
        let known = self.0.lock().get(&stage).copied();
        if let Some(count) = known.filter(Count::is_good) {
            return Ok(count.blocks >= UNCOMMITTED_BLOCKS);
        }
        let blocks = count(reader, stage).await?;
        self.set(stage, Count { blocks, added: 0, counted: Instant::now() });
        Ok(blocks >= UNCOMMITTED_BLOCKS)
    }

    /// A block with a new id was committed.
    pub fn add(&self, stage: ContentId) {
        if let Some(count) = self.0.lock().get_mut(&stage) {
            count.blocks += 1;
            count.added += 1;
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

#[cfg(test)]
mod tests {
    use lazuli_engine::{Engine, Host, KeyRange, Plan, Value};

    use super::*;
    use crate::fault::Fault;

    const STAGE: ContentId = ContentId(7);

    async fn change(engine: &Engine, ids: std::ops::Range<u32>, alive: bool) {
        let write = |_| async {
            let mut plan = Plan::new(());
            for id in ids.clone() {
                let key = key::block(STAGE, &id.to_be_bytes());
                if alive { plan.put(key, Value::new()) } else { plan.delete(key) }
            }
            Ok::<_, Fault>(plan)
        };
        engine.run(None, write).await.expect("written");
    }

    /// A refused block costs no more than one that is taken: the blocks of a full stage are not counted for each.
    #[tokio::test]
    async fn a_full_stage_is_counted_once() {
        let engine = Engine::memory(Host::real());
        let counts = StageCounts::default();
        for start in (0..UNCOMMITTED_BLOCKS as u32).step_by(1_000) {
            change(&engine, start..start + 1_000, true).await;
        }
        let reader = engine.reader().await.expect("open");
        assert!(counts.is_full(&reader, STAGE).await.expect("read"));
        // Nothing of it is there any more, which only a scan would see.
        for start in (0..UNCOMMITTED_BLOCKS as u32).step_by(1_000) {
            change(&engine, start..start + 1_000, false).await;
        }
        let reader = engine.reader().await.expect("open");
        let left = reader.scan(Scan::of(KeyRange::prefix(&b"u"[..]))).await.expect("read");
        assert!(left.items.is_empty());
        assert!(counts.is_full(&reader, STAGE).await.expect("read"), "it is believed");
        assert!(!counts.is_full(&reader, ContentId(8)).await.expect("read"), "another stage is counted");
    }

    /// Each server counts for itself; what the others add it must see before it has added many itself.
    #[tokio::test]
    async fn what_other_servers_add_is_counted() {
        let engine = Engine::memory(Host::real());
        let counts = StageCounts::default();
        let reader = engine.reader().await.expect("open");
        assert!(!counts.is_full(&reader, STAGE).await.expect("read"));
        for start in (0..UNCOMMITTED_BLOCKS as u32).step_by(1_000) {
            change(&engine, start..start + 1_000, true).await;
        }
        let mut own = 0;
        while own < 10_000
            && !counts.is_full(&engine.reader().await.expect("open"), STAGE).await.expect("read")
        {
            counts.add(STAGE);
            own += 1;
        }
        assert!(own <= ADDED, "{own} more than the limit");
    }
}
