//! Dead contents: their chunks go back to the extents, a bounded commit at a time.

use lazuli_engine::{Key, Plan, Reader, Scan, Version};

use super::Work;
use super::budget::has_room;
use super::drain::Readership;
use super::{manifests, stages};
use crate::fault::{Answer, Fault};
use crate::store::key::{self, ContentId};
use crate::store::members::Members;
use crate::store::record::Record;
use crate::store::record::content::{Content, DeadContent, Piece, Segment, Shape};
use crate::store::{content, sparse};

const ITEMS_IN_PASS: usize = 500;
/// The same when other servers are to be waited for, which takes seconds.
const ITEMS_IN_LONG_PASS: usize = 20_000;
/// Of the work items that a pass lists.
const LIST_BYTES: usize = 4 << 20;

/// One piece of work, as it was listed.
pub struct Item {
    pub id: ContentId,
    pub dead: DeadContent,
    /// An item that was written again since may be about a content that readers have found meanwhile.
    version: Version,
}

impl Item {
    /// The contents through which a download may need what is to be given back.
    pub fn seen_through(&self) -> &[ContentId] {
        match &self.dead {
            DeadContent::Replaced { seen, .. } => seen,
            _ => std::slice::from_ref(&self.id),
        }
    }

    /// The item still stands as it was listed. A check of the commit.
    pub async fn stands(&self, reader: &Reader) -> Answer<bool> {
        let found = reader.get(key::dead_content(self.id)).await?;
        Ok(found.is_some_and(|entry| entry.version == self.version))
    }
}

/// Some of what is dead, behind this place.
pub struct Page {
    pub items: Vec<Item>,
    /// Who may be reading them.
    pub readership: Readership,
    /// Items that cannot be read.
    pub unreadable: usize,
    /// Where it ends.
    pub last: Option<Key>,
    pub more: bool,
}

pub async fn list(work: &Work, after: Option<Key>) -> Answer<Page> {
    let limit = match work.members() {
        Members::Alone => ITEMS_IN_PASS,
        Members::Several => ITEMS_IN_LONG_PASS,
    };
    let reader = work.engine().reader().await?;
    let scan = Scan { after, limit, max_bytes: LIST_BYTES, ..Scan::of(key::dead_contents()) };
    let page = reader.scan(scan).await?;
    let last = page.items.last().map(|(key, _)| key.clone());
    let count = page.items.len();
    let read = |(key, entry): (Key, lazuli_engine::Entry)| {
        let dead = DeadContent::decode(&entry.value).ok()?;
        Some(Item { id: key::content_of(&key)?, dead, version: entry.version })
    };
    let items: Vec<Item> = page.items.into_iter().filter_map(read).collect();
    // At the same snapshot.
    let readership = Readership::at(work, &reader).await?;
    Ok(Page { unreadable: count - items.len(), items, readership, last, more: page.more })
}

/// Each step reads what it deletes as checks of its commit: to be stopped anywhere and begun again is harmless.
pub async fn sweep(work: &Work, item: &Item) -> Answer<()> {
    match item.dead {
        DeadContent::Pieces(_) | DeadContent::Replaced { .. } => {
            release_listed(work, std::slice::from_ref(item)).await.map(|_| ())
        }
        DeadContent::Segments => {
            while delete_segments(work, item).await? {}
            finish(work, item).await
        }
        DeadContent::Manifest => manifests::dismantle(work, item).await,
        DeadContent::Absorb => manifests::absorb(work, item).await,
        DeadContent::Layer => sparse::dismantle(work, item).await,
        DeadContent::AbsorbLayer => sparse::absorb(work, item).await,
        DeadContent::Stage => {
            stages::delete(work, item.id, None).await?;
            finish(work, item).await
        }
    }
}

/// Gives back contents of a few pieces, as many as one commit takes; tells how many of them. Clients that replace blobs
/// as fast as they can must not be faster than the sweeper, so many go with one commit.
pub async fn release_listed(work: &Work, items: &[Item]) -> Answer<usize> {
    work.run(|reader| async move {
        let mut plan = Plan::new(0);
        for item in items {
            // One alone is never too much: it was written by one commit.
            if plan.output > 0 && !has_room(&plan) {
                break;
            }
            plan.output += 1;
            if let DeadContent::Pieces(pieces) | DeadContent::Replaced { pieces, .. } = &item.dead
                && item.stands(&reader).await?
            {
                release(&mut plan, pieces);
                plan.delete_without_trace(key::dead_content(item.id));
            }
        }
        Ok::<_, Fault>(plan)
    })
    .await
}

pub fn release<T>(plan: &mut Plan<T>, pieces: &[Piece]) {
    for piece in pieces {
        match piece {
            Piece::Inline { id, .. } => plan.delete_private(key::inline(*id)),
            Piece::Chunk { .. } => plan.release.extend(piece.chunk()),
        }
    }
}

/// Gives back a block that no list names and no reader needs any more. One with a manifest of its own becomes an item
/// of its own.
pub fn release_block<T>(plan: &mut Plan<T>, block: &Content) {
    match &block.shape {
        Shape::Empty => {}
        Shape::Pieces(pieces) => release(plan, pieces),
        Shape::Manifest { .. } => plan.put(key::dead_content(block.id), DeadContent::Manifest.encode()),
        // No list names one.
        Shape::Sparse => plan.put(key::dead_content(block.id), DeadContent::Layer.encode()),
    }
}

/// The same for a block of a list that is taken apart. The first of a copied append blob's list is what its source had,
/// and that may have other holders.
pub async fn drop_block<T>(reader: &Reader, plan: &mut Plan<T>, block: &Content) -> Answer<()> {
    match &block.shape {
        Shape::Manifest { .. } => content::drop_holder(reader, plan, block).await,
        Shape::Empty | Shape::Pieces(_) | Shape::Sparse => {
            release_block(plan, block);
            Ok(())
        }
    }
}

/// Deletes some segments that own no bytes. True while there are more.
async fn delete_segments(work: &Work, item: &Item) -> Answer<bool> {
    work.run(|reader| async move {
        let scan = Scan { keys_only: true, ..Scan::of(key::segments(item.id)) };
        let page = reader.scan(scan).await?;
        let mut plan = Plan::new(page.more);
        if !item.stands(&reader).await? {
            return Ok::<_, Fault>(Plan::new(false));
        }
        page.items.into_iter().for_each(|(key, _)| plan.delete_without_trace(key));
        Ok(plan)
    })
    .await
}

/// Nothing is left of it.
pub async fn finish(work: &Work, item: &Item) -> Answer<()> {
    work.run(|reader| async move {
        let mut plan = Plan::new(());
        if item.stands(&reader).await? {
            plan.delete_without_trace(key::dead_content(item.id));
        }
        Ok::<_, Fault>(plan)
    })
    .await
}

/// The segments of a manifest, read one by one: a walk through a long one holds little.
pub async fn next_segment(
    reader: &Reader,
    id: ContentId,
    after: Option<Key>,
) -> Answer<Option<(Key, Segment)>> {
    let page = reader.scan(Scan { after, limit: 1, ..Scan::of(key::segments(id)) }).await?;
    match page.items.into_iter().next() {
        Some((key, entry)) => Ok(Some((key, Segment::decode(&entry.value)?))),
        None => Ok(None),
    }
}
