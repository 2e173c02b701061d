//! Small blocks of append blobs, packed by the sweeper: a blob of fifty thousand lines is read in few pieces and holds few
//! rows.
//!
//! An append is one write to the log: its bytes stand in a row of their own. The sweeper writes the bytes of many such rows
//! as one, or as a chunk, and one commit puts a segment with that in the place of theirs. Lengths and offsets stay, so that
//! records and copies that read a part of the content read the same. Downloads that have found the rows already may need
//! them: the rows go when those have ended, as what is written over in a page blob does.
//!
//! A content with further holders is left as it is: downloads through a copy are known by the copy's content alone, and
//! cannot be waited for (decision 0038).

use bytes::Bytes;
use lazuli_engine::{Key, Plan, Reader, Scan, Version};
use lazuli_model::blob::BlobType;

use super::upkeep::Work;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, ContentId};
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::content::{Content, DeadContent, INLINE_LIMIT, ListedBlock, Piece, Segment, Shape};

/// Small blocks are looked for whenever a blob has grown by so much, in blocks or in bytes.
const EVERY_BLOCKS: u32 = 512;
const EVERY_BYTES: u64 = BYTES_AT_MOST;
/// Fewer rows than these are not worth a commit.
const ROWS_AT_LEAST: usize = 16;
/// What is packed into one: rows, of which each is named by the commit, and bytes.
const ROWS_AT_MOST: usize = 1_000;
const BYTES_AT_MOST: u64 = 4 << 20;
/// Segments that are looked at together.
const WINDOW: usize = 1_000;
const WINDOW_BYTES: usize = 256 * 1024;
const ROWS_IN_READ: usize = 256;
const BLOBS_IN_PASS: usize = 100;

/// Whether blocks that a commit appended, the first of them at `start`, are the last of enough to be packed.
pub(super) fn is_due(start: u64, listed: &[ListedBlock], record: &BlobRecord) -> bool {
    let blocks = record.committed_blocks();
    let before = blocks.saturating_sub(u32::try_from(listed.len()).unwrap_or(u32::MAX));
    let has_grown = before / EVERY_BLOCKS != blocks / EVERY_BLOCKS
        || start / EVERY_BYTES != record.length() / EVERY_BYTES;
    has_grown && listed.iter().any(|block| small_pieces(block).is_some())
}

/// The rows of a block that can be packed. What is sealed stays as it is: the sweeper has no key.
fn small_pieces(block: &ListedBlock) -> Option<&[Piece]> {
    let is_small = |piece: &Piece| matches!(piece, Piece::Inline { seal: None, .. });
    match &block.content.shape {
        Shape::Pieces(pieces) if pieces.iter().all(is_small) => Some(pieces),
        _ => None,
    }
}

/// Some of the blobs in which there is something to pack.
pub(super) async fn list(work: &Work, after: Option<Key>) -> Answer<Vec<Key>> {
    let reader = work.engine().reader().await?;
    let scan = Scan { after, limit: BLOBS_IN_PASS, keys_only: true, ..Scan::of(key::all_to_pack()) };
    Ok(reader.scan(scan).await?.items.into_iter().map(|(key, _)| key).collect())
}

/// Consecutive segments of small blocks.
#[derive(Default)]
struct Run {
    segments: Vec<(Key, Version)>,
    start: u64,
    end: u64,
    rows: Vec<Piece>,
}

impl Run {
    /// Takes a segment that goes on where this run ends. False when it does not, or when it is too much.
    fn push(&mut self, key: &Key, version: Version, segment: &Segment) -> bool {
        let small: Option<Vec<&[Piece]>> = segment.blocks.iter().map(small_pieces).collect();
        let Some(rows) = small.map(|pieces| pieces.concat()) else { return false };
        let length: u64 = rows.iter().map(Piece::size).sum();
        if self.segments.is_empty() {
            (self.start, self.end) = (segment.start, segment.start);
        }
        let fits = self.rows.len() + rows.len() <= ROWS_AT_MOST
            && self.end - self.start + length <= BYTES_AT_MOST
            && self.end == segment.start;
        if !fits && !self.segments.is_empty() {
            return false;
        }
        self.segments.push((key.clone(), version));
        self.end += length;
        self.rows.extend(rows);
        true
    }
}

/// Packs what is small in one blob, from its end to where nothing is.
pub(super) async fn pack(work: &Work, to_pack: &Key) -> Answer<()> {
    let blob = &key::blob_to_pack(to_pack);
    let mut behind = None;
    let seen = work.engine().reader().await?.get_untracked(to_pack.clone()).await?.map(|entry| entry.version);
    loop {
        let reader = work.engine().reader().await?;
        let Some(content) = packable(&reader, blob).await? else { break };
        let range = key::segments(content);
        let scan =
            Scan { after: behind, limit: WINDOW, max_bytes: WINDOW_BYTES, reverse: true, ..Scan::of(range) };
        let page = reader.scan(scan).await?;
        behind = page.items.last().map(|(key, _)| key.clone());
        let mut packed = 0;
        for run in runs(page.items)? {
            if run.rows.len() >= ROWS_AT_LEAST && pack_run(work, &reader, blob, content, &run).await? {
                packed += 1;
            }
        }
        // Before this was packed, all in front of it was.
        if packed == 0 || !page.more {
            break;
        }
        tokio::task::yield_now().await;
    }
    done(work, to_pack, seen).await
}

/// The runs of a page of segments, which come from the last to the first.
fn runs(page: Vec<(Key, lazuli_engine::Entry)>) -> Answer<Vec<Run>> {
    let mut runs = vec![Run::default()];
    for (key, entry) in page.into_iter().rev() {
        let segment = Segment::decode(&entry.value)?;
        let taken = runs.last_mut().is_some_and(|run| run.push(&key, entry.version, &segment));
        if !taken {
            let mut next = Run::default();
            // One that holds what is not small is in no run.
            next.push(&key, entry.version, &segment);
            runs.push(next);
        }
    }
    Ok(runs)
}

/// The content of an append blob that nothing else holds. What is read is a check of the commit.
async fn packable(reader: &Reader, blob: &Key) -> Answer<Option<ContentId>> {
    let Some(entry) = reader.get(blob.clone()).await? else { return Ok(None) };
    let record = BlobRecord::decode(&entry.value)?;
    let is_list = matches!(record.content.shape, Shape::Manifest { named: false, .. });
    if record.kind != BlobType::Append || !is_list {
        return Ok(None);
    }
    let is_shared = reader.get(key::holders(record.content.id)).await?.is_some();
    Ok((!is_shared).then_some(record.content.id))
}

/// Puts one row or chunk in the place of many. False when the blob is no longer what it was.
async fn pack_run(work: &Work, reader: &Reader, blob: &Key, content: ContentId, run: &Run) -> Answer<bool> {
    let Some(((last, _), others)) = run.segments.split_last() else { return Ok(false) };
    let Some(parts) = read(reader, &run.rows).await? else { return Ok(false) };
    let length = run.end - run.start;
    let len = u32::try_from(length).unwrap_or(u32::MAX);
    let id = ContentId::fresh(work.now());
    // Kept until the commit has published it.
    let mut chunk = None;
    let (piece, inline) = if length <= INLINE_LIMIT as u64 {
        (Piece::Inline { id, len, seal: None }, Some(Bytes::from(parts.concat())))
    } else {
        let written = chunk.insert(work.engine().extents().write_parts(parts).await?);
        (Piece::Chunk { id: written.id.0, len, seal: None }, None)
    };
    let packed = Content { id, length, shape: Shape::Pieces(vec![piece]) };
    let packed =
        Segment { start: run.start, blocks: vec![ListedBlock { name: Vec::new(), content: packed }] };
    let replaced = DeadContent::Replaced { seen: vec![content], pieces: run.rows.clone() };
    let replaced_id = ContentId::fresh(work.now());
    let (packed, replaced, inline, chunk) = (&packed, &replaced, &inline, &chunk);
    work.run(|reader| async move {
        let mut plan = Plan::new(false);
        if packable(&reader, blob).await? != Some(content) {
            return Ok::<_, Fault>(plan);
        }
        for (segment, version) in &run.segments {
            if reader.get(segment.clone()).await?.is_none_or(|entry| entry.version != *version) {
                return Ok(Plan::new(false));
            }
        }
        plan.output = true;
        others.iter().for_each(|(segment, _)| plan.delete_without_trace(segment.clone()));
        plan.put(last.clone(), packed.encode());
        if let Some(bytes) = inline {
            plan.put_private(key::inline(id), bytes.clone());
        }
        plan.publish.extend(chunk.as_ref().map(|chunk| chunk.id));
        plan.put(key::dead_content(replaced_id), replaced.encode());
        Ok(plan)
    })
    .await
}

/// The bytes of rows; `None` when one is gone, for then so is the blob.
async fn read(reader: &Reader, rows: &[Piece]) -> Answer<Option<Vec<Bytes>>> {
    let ids = rows.iter().filter_map(|piece| match piece {
        Piece::Inline { id, .. } => Some(*id),
        Piece::Chunk { .. } => None,
    });
    let keys: Vec<Key> = ids.map(key::inline).collect();
    let mut parts = Vec::with_capacity(rows.len());
    for some in keys.chunks(ROWS_IN_READ) {
        for entry in reader.get_untracked_many(some.to_vec()).await? {
            let Some(entry) = entry else { return Ok(None) };
            parts.push(entry.value);
        }
    }
    Ok(Some(parts))
}

/// Nothing is left to pack, unless the blob has grown meanwhile by enough.
async fn done(work: &Work, to_pack: &Key, seen: Option<Version>) -> Answer<()> {
    work.run(|reader| async move {
        let mut plan = Plan::new(());
        let now = reader.get(to_pack.clone()).await?.map(|entry| entry.version);
        if now.is_some() && now == seen {
            plan.delete(to_pack.clone());
        }
        Ok::<_, Fault>(plan)
    })
    .await
}
