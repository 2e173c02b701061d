//! Long lists of blocks, as immutable segments keyed by the offset where each ends.
//!
//! A short manifest is written by the commit that points to it. A long one is written first, under an intent
//! that the commit removes: an intent whose server is dead marks an orphan.

use std::collections::HashSet;

use lazuli_engine::{EngineError, Key, Plan, Reader, Scan, Value};
use lazuli_model::time::Timestamp;

use super::unit::Changes;
use crate::Services;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, ContentId};
use crate::store::record::Record;
use crate::store::record::content::{Content, DeadContent, ListedBlock, Piece, Segment, Shape};
use crate::store::record::server::Intent;
use crate::store::upload::Uploaded;

/// Aim for a segment, well under the cap of a value.
const SEGMENT_BYTES: usize = 48 * 1024;
/// Of the segments that a download loads at a time.
const SEGMENTS_BYTES: usize = 2 * SEGMENT_BYTES;
/// Up to here the segments fit into the commit that points to them.
const IN_COMMIT_BYTES: usize = 256 * 1024;
/// Of one commit that only writes segments.
const BATCH_BYTES: usize = 512 * 1024;
/// What a piece takes at the most, and what its seal takes beside.
const PIECE_BYTES: usize = 26;
const SEAL_BYTES: usize = 29;
/// Of an upload, listed together: so that a segment ends where it should.
const PIECES_IN_RUN: usize = 256;

pub struct Manifest {
    pub content: Content,
    segments: Vec<(Key, Value)>,
    /// It was written ahead, and it is not known yet what became of it.
    ahead: Option<Services>,
}

/// Collects a manifest block by block. Only the encoded segments stay in memory.
pub struct ManifestBuilder {
    id: ContentId,
    segments: Vec<(Key, Value)>,
    run: Vec<ListedBlock>,
    blocks: u32,
    start: u64,
    end: u64,
    weight: usize,
}

impl ManifestBuilder {
    pub fn new(id: ContentId) -> Self {
        Self { id, segments: Vec::new(), run: Vec::new(), blocks: 0, start: 0, end: 0, weight: 0 }
    }

    pub fn push(&mut self, block: ListedBlock) {
        self.weight += weight(&block);
        self.end += block.content.length;
        self.blocks = self.blocks.saturating_add(1);
        self.run.push(block);
        if self.weight >= SEGMENT_BYTES {
            self.seal();
        }
    }

    /// Runs of empty blocks may end at one offset: the number of the segment tells them apart.
    fn seal(&mut self) {
        let number = u32::try_from(self.segments.len()).unwrap_or(u32::MAX);
        let segment = Segment { start: self.start, blocks: std::mem::take(&mut self.run) };
        self.segments.push((key::segment(self.id, self.end, number), segment.encode()));
        (self.start, self.weight) = (self.end, 0);
    }

    pub fn finish(mut self, named: bool) -> Manifest {
        if !self.run.is_empty() {
            self.seal();
        }
        let shape = match self.segments.is_empty() {
            true => Shape::Empty,
            false => Shape::Manifest { blocks: self.blocks, named },
        };
        let content = Content { id: self.id, length: self.end, shape };
        Manifest { content, segments: self.segments, ahead: None }
    }
}

/// What a block takes of a segment at the most.
fn weight(block: &ListedBlock) -> usize {
    let pieces = match &block.content.shape {
        Shape::Pieces(pieces) => &pieces[..],
        Shape::Empty | Shape::Manifest { .. } | Shape::Sparse => &[],
    };
    let sealed = pieces.iter().filter(|piece| piece.seal().is_some()).count();
    40 + block.name.len() + pieces.len() * PIECE_BYTES + sealed * SEAL_BYTES
}

impl Manifest {
    /// Of an upload in more pieces than stand where its content is named.
    pub fn of_upload(uploaded: &Uploaded, id: ContentId, direct: usize, now: Timestamp) -> Option<Self> {
        if uploaded.pieces.len() <= direct {
            return None;
        }
        let mut builder = ManifestBuilder::new(id);
        for run in uploaded.pieces.chunks(PIECES_IN_RUN) {
            let length = run.iter().map(Piece::size).sum();
            let id = ContentId::fresh(now);
            let content = Content { id, length, shape: Shape::Pieces(run.to_vec()) };
            builder.push(ListedBlock { name: Vec::new(), content });
        }
        Some(builder.finish(false))
    }

    pub fn bytes(&self) -> usize {
        self.segments.iter().map(|(key, value)| key.len() + value.len()).sum()
    }

    /// Writes a long manifest ahead of the commit that will point to it.
    pub async fn write_ahead(&mut self, services: &Services) -> Answer<()> {
        if self.ahead.is_some() || self.bytes() <= IN_COMMIT_BYTES {
            return Ok(());
        }
        // Before the first of it is written: if the client leaves half-way, dropping the manifest gives it up.
        self.ahead = Some(services.clone());
        let id = self.content.id;
        let mut rest = &self.segments[..];
        let mut is_first = true;
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
                .run(services.deadline(), |reader| async move {
                    let mut plan = Plan::new(());
                    declare(services, &reader, &mut plan, id, is_first).await?;
                    for (key, value) in now {
                        plan.put(key.clone(), value.clone());
                    }
                    Ok::<_, Fault>(plan)
                })
                .await?;
            (rest, is_first) = (later, false);
        }
        Ok(())
    }

    /// What the commit that points to the manifest must carry. The intent decides between that commit and the task that
    /// gives the manifest up: each removes the intent only where it still stands.
    pub async fn publish<W: Changes>(&self, reader: &Reader, plan: &mut W) -> Answer<()> {
        if self.ahead.is_some() {
            let intent = key::intent(self.content.id);
            reader.get(intent.clone()).await?.ok_or(GIVEN_UP)?;
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

/// The commit was refused, or the client is gone. A commit may still be under way; the intent decides.
impl Drop for Manifest {
    fn drop(&mut self) {
        let Some(services) = self.ahead.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let id = self.content.id;
            runtime.spawn(async move {
                if let Err(fault) = give_up(&services, id).await {
                    services.upkeep().pass_over("a list that was written ahead", &fault);
                }
            });
        }
    }
}

const GIVEN_UP: EngineError = EngineError::Unavailable("what was written ahead was given up");

/// Adds to a plan that writes something ahead: the intent, which names this server. The first commit makes it; each
/// later one checks that it stands, for otherwise the sweeper has been handed what the earlier ones wrote.
pub(crate) async fn declare<T>(
    services: &Services,
    reader: &Reader,
    plan: &mut Plan<T>,
    content: ContentId,
    is_first: bool,
) -> Answer<()> {
    let stands = reader.get(key::intent(content)).await?.is_some();
    if is_first {
        plan.put(key::intent(content), Intent { owner: services.membership().incarnation() }.encode());
    } else if !stands {
        return Err(GIVEN_UP.into());
    }
    Ok(())
}

/// QueueCaches what was written ahead to the sweeper, unless a commit points to it by now. It commits in any case: the first
/// commit that writes ahead may be under way, and one of the two then has to be judged again.
pub(crate) async fn give_up(services: &Services, content: ContentId) -> Answer<()> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let mut plan = Plan::new(());
            if reader.get(key::intent(content)).await?.is_some() {
                plan.put(key::dead_content(content), DeadContent::Segments.encode());
            }
            plan.delete(key::intent(content));
            Ok::<_, EngineError>(plan)
        })
        .await?;
    Ok(())
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
    let page = reader.scan(Scan { after, limit, max_bytes: SEGMENTS_BYTES, ..Scan::of(range) }).await?;
    page.items.into_iter().map(|(key, entry)| Ok((key, Segment::decode(&entry.value)?))).collect()
}

/// Shows every block that a manifest lists, in order.
pub async fn each_block(
    reader: &Reader,
    id: ContentId,
    mut show: impl FnMut(ListedBlock) + Send,
) -> Answer<()> {
    let mut after = None;
    loop {
        let range = key::segments(id);
        let page = reader.scan(Scan { after, max_bytes: 4 * SEGMENT_BYTES, ..Scan::of(range) }).await?;
        for (_, entry) in &page.items {
            Segment::decode(&entry.value)?.blocks.into_iter().for_each(&mut show);
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            return Ok(());
        }
        // A list may be long: others on this lane have their turn between pages.
        tokio::task::yield_now().await;
    }
}

/// The ids of all blocks that a manifest lists. Empty blocks have none.
pub async fn block_ids(reader: &Reader, content: ContentId) -> Answer<HashSet<ContentId>> {
    let mut ids = HashSet::new();
    each_block(reader, content, |block| {
        if block.content.shape != Shape::Empty {
            ids.insert(block.content.id);
        }
    })
    .await?;
    Ok(ids)
}
