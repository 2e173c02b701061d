//! Long lists of pieces, as immutable segments keyed by the offset where each ends.
//!
//! A short manifest is written by the commit that points to it. A long one is written first, under an intent
//! that the commit removes: an intent that is found old marks an orphan.

use lazuli_engine::{EngineError, Key, Plan, Reader, Scan, Value};

use crate::Services;
use crate::fault::Answer;
use crate::key::{self, ContentId};
use crate::record::Record;
use crate::record::content::{Content, DeadContent, ListedBlock, Segment, Shape};

/// Aim for a segment, well under the cap of a value.
const SEGMENT_BYTES: usize = 48 * 1024;
/// Up to here the segments fit into the commit that points to them.
const IN_COMMIT_BYTES: usize = 256 * 1024;
/// Of one commit that only writes segments.
const BATCH_BYTES: usize = 512 * 1024;

pub struct Manifest {
    pub content: Content,
    segments: Vec<(Key, Value)>,
    /// It was written ahead, and it is not known yet what became of it.
    ahead: Option<Services>,
}

impl Manifest {
    pub fn build(id: ContentId, blocks: Vec<ListedBlock>, named: bool) -> Self {
        let count = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
        let mut segments = Vec::new();
        let (mut start, mut end, mut weight) = (0, 0, 0);
        let mut run = Vec::new();
        for block in blocks {
            weight += 16 + block.name.len() + block.pieces.len() * 22;
            end += block.size;
            run.push(block);
            if weight >= SEGMENT_BYTES {
                segments.push(seal(id, start, end, segments.len(), std::mem::take(&mut run)));
                (start, weight) = (end, 0);
            }
        }
        if !run.is_empty() {
            segments.push(seal(id, start, end, segments.len(), run));
        }
        let shape = if segments.is_empty() { Shape::Empty } else { Shape::Manifest { blocks: count, named } };
        Self { content: Content { id, length: end, shape }, segments, ahead: None }
    }

    pub fn bytes(&self) -> usize {
        self.segments.iter().map(|(key, value)| key.len() + value.len()).sum()
    }

    /// Writes a long manifest ahead of the commit that will point to it.
    pub async fn write_ahead(&mut self, services: &Services) -> Answer<()> {
        if self.ahead.is_some() || self.bytes() <= IN_COMMIT_BYTES {
            return Ok(());
        }
        // Before the first of it: whoever leaves half-way gives up what is there.
        self.ahead = Some(services.clone());
        let intent = key::intent(self.content.id);
        let mut rest = &self.segments[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let fit = rest
                .iter()
                .take_while(|(key, value)| {
                    bytes += key.len() + value.len();
                    bytes <= BATCH_BYTES
                })
                .count()
                .max(1);
            let (now, later) = rest.split_at(fit);
            services
                .engine()
                .run(services.deadline(), |_| async {
                    let mut plan = Plan::new(());
                    plan.put(intent.clone(), Value::new());
                    for (key, value) in now {
                        plan.put(key.clone(), value.clone());
                    }
                    Ok::<_, EngineError>(plan)
                })
                .await?;
            rest = later;
        }
        Ok(())
    }

    /// What the commit that points to the manifest must carry. The intent decides between it and whoever gives the
    /// manifest up: each removes the intent only where it still stands.
    pub async fn publish<T>(&self, reader: &Reader, plan: &mut Plan<T>) -> Answer<()> {
        if self.ahead.is_some() {
            let intent = key::intent(self.content.id);
            reader.get(intent.clone()).await?.ok_or(EngineError::Unavailable("manifest was given up"))?;
            plan.delete(intent);
        } else {
            for (key, value) in &self.segments {
                plan.put(key.clone(), value.clone());
            }
        }
        Ok(())
    }

    /// A commit points to it.
    pub fn settle(&mut self) {
        self.ahead = None;
    }
}

/// The commit was refused, or the client is gone. Whether the commit is under way nobody here knows; the intent does.
impl Drop for Manifest {
    fn drop(&mut self) {
        let Some(services) = self.ahead.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let id = self.content.id;
            runtime.spawn(async move { give_up(&services, id).await });
        }
    }
}

/// Hands what was written ahead to the sweeper, unless a commit points to it by now.
pub(crate) async fn give_up(services: &Services, content: ContentId) -> Answer<()> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let mut plan = Plan::new(());
            if reader.get(key::intent(content)).await?.is_some() {
                plan.delete(key::intent(content));
                plan.put(key::dead_content(content), DeadContent::Segments.encode());
            }
            Ok::<_, EngineError>(plan)
        })
        .await?;
    Ok(())
}

/// Runs of empty blocks may end at one offset: the number of the segment tells them apart.
fn seal(id: ContentId, start: u64, end: u64, number: usize, blocks: Vec<ListedBlock>) -> (Key, Value) {
    (key::segment(id, end, number as u32), Segment { start, blocks }.encode())
}

/// The segments of a content from the one that holds `offset` on, a few at a time.
pub async fn segments_from(
    reader: &Reader,
    id: ContentId,
    after: Option<Key>,
    offset: u64,
    limit: usize,
) -> Answer<Vec<(Key, Segment)>> {
    let mut range = key::segments(id);
    range.start = key::segment(id, offset + 1, 0);
    let page = reader.scan(Scan { after, limit, ..Scan::of(range) }).await?;
    page.items.into_iter().map(|(key, entry)| Ok((key, Segment::decode(&entry.value)?))).collect()
}

/// All blocks of a content, in order.
pub async fn all_blocks(reader: &Reader, content: &Content) -> Answer<Vec<ListedBlock>> {
    let mut blocks = Vec::new();
    if !matches!(content.shape, Shape::Manifest { .. }) {
        return Ok(blocks);
    }
    let mut after = None;
    loop {
        let range = key::segments(content.id);
        let page = reader.scan(Scan { after, limit: 16, ..Scan::of(range) }).await?;
        for (_, entry) in &page.items {
            blocks.extend(Segment::decode(&entry.value)?.blocks);
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            return Ok(blocks);
        }
    }
}
